"""What can only be measured beside a real GPU: packed jobs, the agent's cost, hung and idle jobs, a model server's speed."""
