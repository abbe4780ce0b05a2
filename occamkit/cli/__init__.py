"""The command line: reads arguments, calls the library, shows what it returns. Nothing is computed here.

Results go to standard output, everything else to standard error. Exit codes: 0 done, 1 the run failed, 2 the input
is wrong.

    main                                the command itself, and those that packs add
    fit, run, resume, rerun             search
    check, schema, listing              look before a search
    report, predict, export, score      look after it
    plugins, check_pack, new_pack       packs
    folder, output                      what commands share
"""
