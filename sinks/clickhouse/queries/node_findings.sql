-- title: Findings in nodes' logs and GPU metrics
-- about: Signs of trouble on nodes, and the jobs that were there then; the newest first.
-- param node String = : one node; empty for all
-- param days UInt32 = 7: how many days back
-- param limit UInt32 = 100: rows at most

SELECT time, node, severity, signature, component, gpu, device, times, told, text
FROM node_troubles
WHERE time > now() - toIntervalDay({days:UInt32}) AND ({node:String} = '' OR node = {node:String})
ORDER BY time DESC, signature
LIMIT {limit:UInt32}
