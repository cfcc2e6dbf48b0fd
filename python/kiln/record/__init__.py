"""python -m kiln record: a spec of every kernel that a program launches.

    launch           what one launch says
    grid_expression  the program's grid functions as expressions of a spec
    spec_writer      launches as a spec
    tensor_arguments a launch's arguments by name, and the memory that they point to
    capture          inputs and outputs of launches, in a folder
    observer         where launches are seen: Triton's JIT
    command          the command"""
