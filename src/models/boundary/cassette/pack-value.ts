export interface BlobWriter {
  /** Returns the name of the stored text; the same text has the same name. */
  put(text: string): string
}

/** Longer texts are stored once, in their own readable files. */
const longest = 1024

/** A text that is JSON, stored as JSON. Spaced: `{"a": 1, "b": 2}`, as some providers write it. */
interface JsonText {
  readonly $json: unknown
  readonly spaced?: true
}

/**
 * Readable JSON for a file: long texts become `{"$blob": name}`, and where `openJson` allows it a text that is JSON
 * becomes `{"$json": …}`. `text` is applied to every stored text.
 */
export function packValue(
  value: unknown,
  options: {
    readonly blobs: BlobWriter
    readonly text?: (text: string) => string
    readonly openJson?: (text: string) => boolean
  },
): unknown {
  const { blobs, text = (same: string) => same, openJson = () => false } = options
  const pack = (item: unknown): unknown => {
    if (typeof item === 'string') {
      const opened = openJson(item) ? jsonIn(item) : null
      if (opened !== null) return { ...opened, $json: pack(opened.$json) }
      const kept = text(item)
      return kept.length > longest ? { $blob: blobs.put(kept) } : kept
    }
    if (Array.isArray(item)) return item.map(pack)
    if (typeof item !== 'object' || item === null) return item
    const packed = Object.fromEntries(Object.entries(item).map(([key, field]) => [key, pack(field)]))
    return isMark(item) ? { $literal: packed } : packed
  }
  return pack(value)
}

/** Undoes `packValue`. `getBlob` throws when the text is missing. */
export function unpackValue(
  value: unknown,
  options: { readonly getBlob: (name: string) => string; readonly text?: (text: string) => string },
): unknown {
  const { getBlob, text = (same: string) => same } = options
  const unpack = (item: unknown): unknown => {
    if (typeof item === 'string') return text(item)
    if (Array.isArray(item)) return item.map(unpack)
    if (typeof item !== 'object' || item === null) return item
    if (isMark(item)) return unpackMark(item)
    return unpackFields(item)
  }
  const unpackFields = (item: object): unknown =>
    Object.fromEntries(Object.entries(item).map(([key, field]) => [key, unpack(field)]))
  const unpackMark = (mark: object): unknown => {
    const { $blob, $json, $literal, spaced } = mark as Record<string, unknown>
    if (typeof $blob === 'string') return text(getBlob($blob))
    if (typeof $literal === 'object' && $literal !== null) return unpackFields($literal)
    return (spaced === true ? spacedJson : JSON.stringify)(unpack($json))
  }
  return unpack(value)
}

function isMark(item: object): boolean {
  return '$blob' in item || '$json' in item || '$literal' in item
}

/** null when the text is not JSON, or cannot be restored exactly. */
function jsonIn(text: string): JsonText | null {
  if (!/^[{[]/.test(text) || text.length < 3) return null
  try {
    const $json: unknown = JSON.parse(text)
    if (JSON.stringify($json) === text) return { $json }
    return spacedJson($json) === text ? { $json, spaced: true } : null
  } catch {
    return null
  }
}

function spacedJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(spacedJson).join(', ')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const fields = Object.entries(value).map(([key, field]) => `${JSON.stringify(key)}: ${spacedJson(field)}`)
  return `{${fields.join(', ')}}`
}
