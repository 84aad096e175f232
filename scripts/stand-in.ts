/**
 * Code that replaces the value of the expression `there`. Its functions evaluate `there` at each call and forward to it;
 * everything else is copied. null when that is not possible, or when the code would be long.
 */
export function standIn(value: unknown, there: string): string | null {
  if (typeof value === 'function') return isPlainFunction(value) ? `(...given) => ${there}(...given)` : null
  const code = value instanceof Map ? mapStandIn(value, there) : dataStandIn(value, there)
  return code !== null && (typeof value === 'string' || code.length <= maxLength) ? code : null
}

/** Longer code takes as long to run as the real value. */
const maxLength = 1500

function dataStandIn(value: unknown, there: string): string | null {
  if (value === null || ['string', 'number', 'boolean'].includes(typeof value)) return JSON.stringify(value)
  if (value instanceof Set) return setStandIn(value, there)
  if (typeof value !== 'object' || value === null) return null
  if (Array.isArray(value)) return list(value.map((one, index) => standIn(one, `${there}[${index}]`)))
  if (Object.getPrototypeOf(value) !== Object.prototype) return null
  const fields = Object.entries(Object.getOwnPropertyDescriptors(value)).map(([key, field]) => {
    const name = JSON.stringify(key)
    const code = 'value' in field ? standIn(field.value, `${there}[${name}]`) : null
    return code === null ? null : `${name}: ${code}`
  })
  return fields.includes(null) ? null : `({ ${fields.join(', ')} })`
}

function setStandIn(value: ReadonlySet<unknown>, there: string): string | null {
  const members = list([...value].map((one) => (typeof one === 'string' ? standIn(one, there) : null)))
  return members === null ? null : `new Set(${members})`
}

/** A map of functions by name, such as the programs of the shell. */
function mapStandIn(value: ReadonlyMap<unknown, unknown>, there: string): string | null {
  const entries = [...value]
  if (!entries.every(([key, one]) => typeof key === 'string' && isPlainFunction(one))) return null
  const names = JSON.stringify(entries.map(([key]) => key))
  return `new Map(${names}.map((name) => [name, (...given) => ${there}.get(name)(...given)]))`
}

function list(codes: readonly (string | null)[]): string | null {
  return codes.includes(null) ? null : `[${codes.join(', ')}]`
}

function isPlainFunction(value: unknown): boolean {
  return typeof value === 'function' && !/^class\b/.test(Function.prototype.toString.call(value))
}
