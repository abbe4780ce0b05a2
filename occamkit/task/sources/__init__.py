"""Where rows come from. Each source gives the columns that are asked for, in base units, as float64."""
