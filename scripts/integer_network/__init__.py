"""Integer networks in NEMO's form, simulated exactly: what scripts/make_model.py and train_digits.py are made of."""
