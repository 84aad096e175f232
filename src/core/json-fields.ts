export type JsonObject = Readonly<Record<string, unknown>>

/** Parses untrusted text; undefined, which is not a JSON value, when it is not JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Parses a text of unknown content, perhaps with a byte order mark; null when it is not a JSON object. */
export function parseObject(given: string): JsonObject | null {
  const text = given.trim()
  return text.startsWith('{') ? asObject(parseJson(text)) : null
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

/** For tokens and money, where negative amounts are not allowed. */
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

/** A copy without keys whose value is undefined. */
export function defined<const T extends object>(value: T): Defined<T> {
  return Object.fromEntries(Object.entries(value).filter(([, field]) => field !== undefined)) as Defined<T>
}

/** The keys of a document: `hookBin` becomes `hook_bin`. Values stay as they are. */
export function snakeKeys(value: object): JsonObject {
  const snake = (key: string): string => key.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
  return Object.fromEntries(Object.entries(value).map(([key, field]) => [snake(key), field]))
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
