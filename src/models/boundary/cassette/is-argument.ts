/** What a model gave to a tool, or a tool gave back as data: whatever stands in it belongs to the task, not to the API. */
export function isArgument(object: object, key: string): boolean {
  const type: unknown = Reflect.get(object, 'type')
  if (key === 'input') return typeof type === 'string' && type.endsWith('tool_use')
  return key === 'args' || (key === 'response' && 'name' in object)
}
