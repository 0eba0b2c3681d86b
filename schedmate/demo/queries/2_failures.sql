-- Why did attempts fail, and would starting them again help?
SELECT job, error_type, signature, restartable AS again, root_line AS line,
    left(extract(root_text, '[A-Z].*'), 32) AS text
FROM verdicts ORDER BY time
