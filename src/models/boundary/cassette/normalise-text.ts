import { hidePhrases } from './hide-phrases.ts'
import type { PlaceCodec } from './recorded-directories.ts'

export interface TextRules {
  readonly places: PlaceCodec
  /** Milliseconds since the epoch: when the cassette was recorded, and now. */
  readonly moments: readonly number[]
  readonly redact: (text: string) => string
}

/** Removes volatile parts of a text. Which words are ids depends on the whole request. */
export interface NormalText {
  readonly text: string
  /** A possible id, or a word that contains one. */
  readonly candidates: readonly string[]
}

export type NormaliseText = (text: string, isOutput: boolean) => NormalText

const rememberedTexts = 20_000

/** Cached: a request repeats nearly everything of the previous one. */
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

export function replaceCandidates(text: string, standsFor: (found: string) => string): string {
  return text.replaceAll(candidate, standsFor)
}

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

/** The result of one rule may match another, so repeat until nothing changes. */
function normaliseText(original: string, isOutput: boolean, { places, moments, redact }: TextRules): string {
  let text = redact(original)
  for (let round = 0; round < 5; round += 1) {
    const next = hidePhrases(hideMoments(places.hide(text), moments), isOutput)
    if (next === text) return text
    text = next
  }
  return text
}

/**
 * Replaces dates and times in any notation that are close to one of the moments (of the recording, of now) by `{time}`.
 * All others stay: a date that belongs to the task is not the system clock.
 */
function hideMoments(text: string, moments: readonly number[]): string {
  if (!/\d/.test(text)) return text
  return forms.reduce(
    (hidden, { pattern, isNear }) =>
      hidden.replaceAll(pattern, (whole: string, ...groups: unknown[]) =>
        moments.some((moment) => isNear(groups.map(asText), moment)) ? '{time}' : whole,
      ),
    text,
  )
}

interface Form {
  readonly pattern: RegExp
  readonly isNear: (groups: readonly string[], moment: number) => boolean
}

const dayMs = 86_400_000
const dateWindowMs = 2 * dayMs
/** For a time without a date. Longer than any trial. */
const clockWindowMs = 3 * 3_600_000

const months = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec']
const weekday = '(?:(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]{0,6},? )?'
const month = `(${months.join('|')})[a-z]{0,6}`
const clock = String.raw`\d{1,2}:\d\d(?::\d\d(?:[.,]\d+)?)?(?: ?[AP]M\b)?`
const zone = String.raw`(?: ?(?:Z\b|UTC\b|GMT\b)?(?:[+-]\d\d:?\d\d)?)`

const forms: readonly Form[] = [
  {
    // 2026-11-15, 2026-11-15T06:07:21.738+00:00, 2026-11-15 06:07
    pattern: new RegExp(String.raw`(?<!\d)(20\d\d)[-/](\d\d)[-/](\d\d)(?!\d)(?:[T _]${clock}${zone})?`, 'g'),
    isNear: ([year, monthNumber, day], moment) =>
      isDayNear(Number(year), Number(monthNumber), Number(day), moment),
  },
  {
    // 20261115T060721, 20261115
    pattern: /(?<!\d)(20\d\d)(\d\d)(\d\d)(?:[T_-]?\d{6}(?:\.\d+)?Z?)?(?!\d)/g,
    isNear: ([year, monthNumber, day], moment) =>
      isDayNear(Number(year), Number(monthNumber), Number(day), moment),
  },
  {
    // Sun Nov 15 06:07:12 UTC 2026, Sunday, November 15, 2026, Nov 15 06:07
    pattern: new RegExp(
      String.raw`\b${weekday}${month}\.? {1,2}(\d{1,2})(?:st|nd|rd|th)?(?!\d|:)(?:,? {1,2}${clock})?(?: [A-Z]{2,5}(?= \d{4}))?(?:,? {1,2}(\d{4})(?!\d))?(?:,? ${clock})?(?: [+-]\d{4})?`,
      'gi',
    ),
    isNear: ([name, day, year], moment) => isNamedDayNear(name, day, year, moment),
  },
  {
    // Sun, 15 Nov 2026 06:07:12 GMT, 15 November 2026
    pattern: new RegExp(
      String.raw`\b${weekday}(\d{1,2})(?:st|nd|rd|th)? ${month}\.?,? (\d{4})(?!\d)(?:,? ${clock}${zone})?`,
      'gi',
    ),
    isNear: ([day, name, year], moment) => isNamedDayNear(name, day, year, moment),
  },
  {
    // 11/15/2026, 15.11.2026, 06:07:12
    pattern: new RegExp(String.raw`(?<![\d./])(\d{1,2})([./])(\d{1,2})\2(20\d\d)(?!\d)(?:,? ${clock})?`, 'g'),
    isNear: ([first, , second, year], moment) =>
      isDayNear(Number(year), Number(first), Number(second), moment) ||
      isDayNear(Number(year), Number(second), Number(first), moment),
  },
  {
    pattern: /(?<![\d.])(\d{13})(?!\d)/g,
    isNear: ([epochMs], moment) => Math.abs(Number(epochMs) - moment) <= dateWindowMs,
  },
  {
    pattern: /(?<![\d.])(\d{10}(?:\.\d{1,9})?)(?!\d)/g,
    isNear: ([epochSecs], moment) => Math.abs(Number(epochSecs) * 1000 - moment) <= dateWindowMs,
  },
  {
    pattern: /(?<![\d:])(\d\d):(\d\d):(\d\d)(?:[.,]\d+)?(?![\d:])/g,
    isNear: ([hours, minutes, seconds], moment) =>
      isClockNear((Number(hours) * 60 + Number(minutes)) * 60_000 + Number(seconds) * 1000, moment),
  },
]

function isDayNear(year: number, monthNumber: number, day: number, moment: number): boolean {
  if (monthNumber < 1 || monthNumber > 12 || day < 1 || day > 31) return false
  return Math.abs(Date.UTC(year, monthNumber - 1, day, 12) - moment) <= dateWindowMs
}

/** For a date without a year, as `ls` prints it: the year of the moment, or an adjacent year around New Year. */
function isNamedDayNear(
  name: string | undefined,
  day: string | undefined,
  year: string | undefined,
  moment: number,
): boolean {
  const number = months.indexOf((name ?? '').toLowerCase()) + 1
  const own = new Date(moment).getUTCFullYear()
  const years = year === undefined || year === '' ? [own - 1, own, own + 1] : [Number(year)]
  return years.some((one) => isDayNear(one, number, Number(day), moment))
}

/** In UTC or in local time. */
function isClockNear(ofDayMs: number, moment: number): boolean {
  const wallMs = moment - new Date(moment).getTimezoneOffset() * 60_000
  return [moment, wallMs].some((at) => {
    const apartMs = Math.abs((at % dayMs) - ofDayMs)
    return Math.min(apartMs, dayMs - apartMs) <= clockWindowMs
  })
}

function asText(group: unknown): string {
  return typeof group === 'string' ? group : ''
}
