/**
 * Dates and times that lie close to one of the moments (of the recording, of now), however they are written, become
 * `{time}`. All others stay: a date that a task is about is not the clock of the machine.
 */
export function hideMoments(text: string, moments: readonly number[]): string {
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
/** Of a time without a date. Longer than any trial. */
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

/** Without a year, as `ls` writes it: the year of the moment, or its neighbours at the turn of the year. */
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

/** In UTC, or as the clock on the wall of this machine. */
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
