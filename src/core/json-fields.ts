export type JsonObject = Readonly<Record<string, unknown>>

/** An object of a line that may hold anything; null when the text is no JSON object. */
export function parseObject(line: string): JsonObject | null {
  if (!line.trimStart().startsWith('{')) return null
  try {
    return asObject(JSON.parse(line))
  } catch {
    return null
  }
}

export function asObject(value: unknown): JsonObject | null {
  return isObject(value) ? value : null
}

export function asArray(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

export function asString(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}

export function asBoolean(value: unknown): boolean | undefined {
  return typeof value === 'boolean' ? value : undefined
}

export function asInteger(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isSafeInteger(value) ? value : undefined
}

/** Tokens and money: an agent cannot pay itself back by reporting a negative amount. */
export function asAmount(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : undefined
}

/** The strings of a list; undefined when it is not a list. */
export function asStrings(value: unknown): readonly string[] | undefined {
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : undefined
}

/** The objects of a list; empty when it is not a list. */
export function asObjects(value: unknown): readonly JsonObject[] {
  return asArray(value)
    .map(asObject)
    .filter((item) => item !== null)
}

type Defined<T> = { [K in keyof T as undefined extends T[K] ? never : K]: T[K] } & {
  [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined>
}

/** The same object without the keys whose value is undefined, as optional properties want it. */
export function defined<T extends object>(value: T): Defined<T> {
  return Object.fromEntries(Object.entries(value).filter(([, field]) => field !== undefined)) as Defined<T>
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
