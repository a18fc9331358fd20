def chosen_shapes():
    """Returns the shapes of SHAPES that --size chooses, and the other arguments."""
    chosen, rest, arguments = list(SHAPES), [], sys.argv[1:]
    while arguments:
        argument = arguments.pop(0)
        if argument == "--size" and arguments:
            size = arguments.pop(0)
            chosen = [shape for shape in chosen if size in shape[0]]
        else:
            rest.append(argument)
    if not chosen:
        print("no code for these sizes; the shapes of this program are:", file=sys.stderr)
        for sizes, *_ in SHAPES:
            print(f"  {', '.join(sizes)}", file=sys.stderr)
        sys.exit(2)
    return chosen, rest
