"""Spot jobs: forecasts of demand, the quota that follows, where pods go, and who is evicted (GFS, "GPU Forecast and Spot").

Pure functions over a view of the cluster: nothing here knows a scheduler, a simulator or a topic.
"""
