def main():
    global is_timed, random
    chosen, rest = chosen_shapes()
    if rest not in ([], ["--no-time"]):
        print(f"usage: {sys.argv[0]} [--size SYMBOL=N] [--no-time]", file=sys.stderr)
        return 2
    for sizes, make_inputs, run_plan in chosen:
        print(f"at {', '.join(sizes)}:")
        # Each shape draws the inputs that a program of this shape alone draws.
        random, is_timed = Random(SEED), False
        inputs = make_inputs()
        run_plan(*inputs)
        if wrong == 0 and not rest:
            is_timed = True
            run_plan(*inputs)
    print(f"WRONG in {wrong} places" if wrong else "the results are right")
    return 1 if wrong else 0
