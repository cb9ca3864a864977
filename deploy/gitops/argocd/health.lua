-- Health of the four kinds of the lldap operator, for Argo CD.
local health = { status = "Progressing", message = "the operator has not looked at it yet" }
if obj.metadata.deletionTimestamp ~= nil then
  health.message = "it is being deleted"
end
if obj.status == nil or obj.status.conditions == nil then
  return health
end
for _, condition in ipairs(obj.status.conditions) do
  if condition.type == "Ready" then
    health.message = condition.reason .. ": " .. condition.message
    if condition.observedGeneration ~= obj.metadata.generation then
      health.message = "the operator has not looked at the last change yet"
    elseif condition.reason == "Paused" then
      health.status = "Suspended"
    elseif obj.metadata.deletionTimestamp == nil and condition.status == "True" then
      health.status = "Healthy"
    end
  end
end
for _, condition in ipairs(obj.status.conditions) do
  if condition.type == "Stalled" and condition.status == "True"
      and condition.observedGeneration == obj.metadata.generation then
    health.status = "Degraded"
  end
end
return health
