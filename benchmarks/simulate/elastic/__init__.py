"""Jobs whose GPUs change while they run, as Sia schedules them (Jayaram Subramanya et al., SOSP 2023)."""
