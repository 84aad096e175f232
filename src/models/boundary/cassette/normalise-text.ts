import { hideMoments } from './normalise-moments.ts'
import { hidePhrases } from './normalise-phrases.ts'
import type { PlaceCodec } from './recorded-directories.ts'

export interface TextRules {
  readonly places: PlaceCodec
  /** Milliseconds since the epoch: when the cassette was recorded, and now. */
  readonly moments: readonly number[]
  readonly redact: (text: string) => string
}

/** A text without what is volatile. What in it are ids only the whole request can tell. */
export interface NormalText {
  readonly text: string
  /** What may be an id, or have one in it. */
  readonly candidates: readonly string[]
}

export type NormaliseText = (text: string, isOutput: boolean) => NormalText

const rememberedTexts = 20_000

/** Remembers what it did: a request repeats nearly everything of the one before. */
export function createTextNormaliser(rules: TextRules): NormaliseText {
  const outputs = new Map<string, NormalText>()
  const others = new Map<string, NormalText>()
  return (original, isOutput) => {
    const memory = isOutput ? outputs : others
    const known = memory.get(original)
    if (known !== undefined) return known
    if (memory.size >= rememberedTexts) memory.clear()
    const text = normaliseText(original, isOutput, rules)
    const normal = { text, candidates: [...new Set(text.match(candidate))] }
    memory.set(original, normal)
    return normal
  }
}

/** Every candidate in a text, by what `standsFor` says. */
export function replaceCandidates(text: string, standsFor: (found: string) => string): string {
  return text.replaceAll(candidate, standsFor)
}

/** Every UUID in a text, by what `standsFor` says. */
export function replaceUuids(text: string, standsFor: (uuid: string) => string): string {
  return text.replaceAll(uuid, standsFor)
}

export function isUuid(text: string): boolean {
  return text.length === 36 && replaceUuids(text, () => '') === ''
}

const uuidSource =
  '(?<![0-9A-Za-z])[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}(?![0-9A-Za-z])'
const uuid = new RegExp(uuidSource, 'g')
const candidate = new RegExp(`${uuidSource}|\\b[A-Za-z]+[_-][A-Za-z0-9_-]{6,}`, 'g')

/** What one rule leaves may be what another one looks for, so it goes on until nothing changes. */
function normaliseText(original: string, isOutput: boolean, { places, moments, redact }: TextRules): string {
  let text = redact(original)
  for (let round = 0; round < 5; round += 1) {
    const next = hidePhrases(hideMoments(places.hide(text), moments), isOutput)
    if (next === text) return text
    text = next
  }
  return text
}
