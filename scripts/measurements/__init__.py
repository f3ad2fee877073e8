"""What scripts/measure is made of: runs of networks by scripts/verify, and tables of the chips of the maintained gvsoc."""
