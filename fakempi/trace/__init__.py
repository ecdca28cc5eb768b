"""What happened: records of transfers, and who collects them."""
