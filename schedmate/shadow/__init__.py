"""What decisions that were not carried out would have done, and what happened to their jobs instead."""
