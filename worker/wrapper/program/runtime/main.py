def main():
    global is_timed
    if sys.argv[1:] not in ([], ["--no-time"]):
        print(f"usage: {sys.argv[0]} [--no-time]", file=sys.stderr)
        return 2
    inputs = make_inputs()
    run_plan(*inputs)
    if wrong == 0 and not sys.argv[1:]:
        is_timed = True
        run_plan(*inputs)
        if MEASURED_MS:
            print(f"measured before: {MEASURED_MS:.4f} ms; now {all_ms / MEASURED_MS:.3f} of it")
    print(f"WRONG in {wrong} places" if wrong else "the results are right")
    return 1 if wrong else 0
