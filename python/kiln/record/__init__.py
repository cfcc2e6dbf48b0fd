"""python -m kiln record: a spec of every kernel that a program launches.

    launch           what one launch says
    grid_expression  the program's grid functions as expressions of a spec
    spec_writer      launches as a spec
    observer         where launches are seen: Triton's JIT
    command          the command"""
