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

/** Letters and digits: a plain number or a plain word is not a hash. */
const mixed = '(?=[0-9]*[a-f])(?=[a-f]*[0-9])[0-9a-f]{7,12}'

/**
 * For places where only a hash is likely. One in thirty seven-character hashes consists only of digits, and no replay
 * should fail because of it.
 */
const short = `(?:${mixed}|[0-9]{7})`
const long = '[0-9a-f]{40}'
/** A hash alone on its line. The price: a seven-digit file size alone on a line is normalised too. */
const seven = '(?:(?=[a-f]*[0-9])[0-9a-f]{7})'

/**
 * Hashes of commits as git prints them, which depend on the time. Hashes of contents (`index`, `blob`, checksums) stay,
 * because the same content has the same hash.
 */
const ofCommits: readonly (readonly [pattern: RegExp, stands: string])[] = [
  // log --oneline, reflog, blame; not sha1sum, which has two spaces or a star.
  [new RegExp(`^\\^?(?:${short}|${long})(?= [^ *])`, 'gm'), '{commit}'],
  // rev-parse
  [new RegExp(`^(?:${long}|${seven})$`, 'gm'), '{commit}'],
  // log --graph
  [new RegExp(`^([*|\\\\/ ]*\\* +)${short}(?= \\S)`, 'gm'), '$1{commit}'],
  // branch -v
  [new RegExp(`^([*+ ] [\\w./-]+ +)${mixed}(?= \\S)`, 'gm'), '$1{commit}'],
  // worktree list
  [new RegExp(`^(\\S+ +)${short}(?= \\[)`, 'gm'), '$1{commit}'],
  // show-ref, ls-remote
  [new RegExp(`^${long}(?=[ \\t](?:refs/|HEAD\\b))`, 'gm'), '{commit}'],
  [
    /^((?:commit|parent|Merge:|HEAD is now at|Updating|Previous HEAD position was) ?)[0-9a-f]{7,40}\b/gm,
    '$1{commit}',
  ],
  [/((?:WIP on|On) [^\s:]+: |\(was |HEAD detached at |\bstash@\{\d+\} \()[0-9a-f]{7,40}\b/g, '$1{commit}'],
  // merge, push, pull
  [
    /^((?:Updating )? *[+*-]? *)(?:[0-9a-f]{7,12}|\{commit\})\.\.\.?[0-9a-f]{7,12}\b/gm,
    '$1{commit}..{commit}',
  ],
  // commit
  [new RegExp(`^(\\[[^\\]\\n]+ )${short}(?=\\])`, 'gm'), '$1{commit}'],
]

type Phrase = readonly [pattern: RegExp, stands: string]

/** In any text: what agents write about a session. */
const anywhere: readonly Phrase[] = [
  // Claude Code: the version stays, because a new one is a real difference; the rest is a checksum of the conversation.
  [/\bcc_version=(\d+\.\d+\.\d+)\.[0-9a-z]+/g, 'cc_version=$1'],
  [/ ?\bcch=[0-9a-f]+;?/g, ''],
  [/(\.claude\/projects\/)[^/\s"'`]+/g, '$1{name}'],
  [/<current_datetime>[^<]*<\/current_datetime>/g, '<current_datetime>{time}</current_datetime>'],
  [/\b(pid|process id)([ =:#]+)\d+/gi, '$1$2{pid}'],
  [/\b(duration_?ms|elapsed_?ms|durationMs|elapsedMs)("?[ =:]+)\d+(?:\.\d+)?/gi, '$1$2{duration}'],
  // Ports from the ephemeral range; ports such as 3000 or 8080 were chosen on purpose.
  [
    /\b(127\.0\.0\.1|localhost|\[::1\]):(?:3276[89]|327[7-9]\d|32[89]\d\d|3[3-9]\d{3}|[4-6]\d{4})(?!\d)(?:\/[A-Za-z0-9_-]{16,}(?![A-Za-z0-9_-]))?/g,
    '$1:{port}',
  ],
  [/\b(agentId: |SendMessage with to: ')[0-9a-z]{6,}/g, '$1{name}'],
  [/\b(running in (?:the )?background with ID: )[0-9A-Za-z_-]+/g, '$1{name}'],
  [/(\/tasks\/)[0-9a-z]{6,}(?=\.output)/g, '$1{name}'],
  [/(<task-id>)[^<]+(?=<)/g, '$1{name}'],
]

const environmentMarks =
  /^# Environment$|<env>|<environment_context>|<session_context>|^# gitStatus$|in the following environment/m

/** Only where an agent describes its machine: the same text in a task is part of the task. */
const ofEnvironment: readonly Phrase[] = [
  [
    /^([ \t]*[-*]?[ \t]*(?:Platform|OS Version|Operating System|Shell|Available tools|Is a git repository|Is directory a git repo|Today's date|Git user)):.*$/gm,
    '$1: {machine}',
  ],
  [/^(My operating system is:).*$/gm, '$1 {machine}'],
  [/^(Today's date is ).*$/gm, '$1{time}'],
  [/<(shell|timezone|current_date)>[^<]*<\/\1>/g, '<$1>{machine}</$1>'],
]

/** Where an agent lists commits. */
const ofHistory: Phrase = [/^[0-9a-f]{7,40}(?= \S)/gm, '{commit}']

/** In the output of a tool: numbers that no instruction depends on. */
const ofOutputs: readonly Phrase[] = [
  // Inodes, which can look like hashes.
  [/^ *\d+ +(?:\d+ +)?(?=[-dlbcps][-rwxsStT]{9})/gm, ''],
  ...ofCommits,
  [/^(Chunk ID: )[0-9a-f]+$/gm, '$1{name}'],
  // Copilot numbers the shells of parallel calls in the order in which they start.
  [/(<shellId: )\d+(?= completed )/g, '$1{name}'],
  // Codex gives its subagents random names.
  [/("agent_id":"[^"]*","nickname":")[^"]+/g, '$1{name}'],
  // The count includes the characters of paths.
  [/^(Original token count: )\d+$/gm, '$1{count}'],
  [/(?<![\w.])\d+m ?\d+(?:\.\d+)?s\b/g, '{duration}'],
  [
    /(?<![\w.-])\d+(?:\.\d+)? ?(?:ns|µs|us|ms|s|secs?|seconds?|milliseconds?|mins?|minutes?)\b(?!-)/g,
    '{duration}',
  ],
  [/(?<=\bat )0x[0-9a-f]{6,16}\b/g, '{address}'],
  // Shell jobs.
  [/^(\[\d+\][+-]? +)\d+\b/gm, '$1{pid}'],
  [/\b(Device: \S+\s+Inode: )\d+/g, '$1{machine}'],
  // `uname -a`: host name and kernel.
  [/^(Linux|Darwin) \S+ \d+\.\d+\S* .*$/gm, '$1 {machine}'],
  // A directory listing: owner, links and the size of directories depend on the machine.
  [/^total \d+(?=\n[-dlbcps][-rwxsStT]{9})/gm, 'total {size}'],
  [/^(d[-rwxsStT]{9}[.+@]?) +\d+ +\S+ +\S+ +\d+ /gm, '$1 {owner} '],
  [/^([-lbcps][-rwxsStT]{9}[.+@]?) +\d+ +\S+ +\S+ +(\d+) /gm, '$1 {owner} $2 '],
  [/\btmp\.[A-Za-z0-9]{6,12}\b/g, 'tmp.{name}'],
  [/(\{tmp\}\/tmp)[a-z0-9_]{8}\b/g, '$1{name}'],
  [/\{time\}T\d\d_\d\d_\d\d_\d+Z/g, '{time}'],
  [/(\{tmp\}\/[\w.-]*?[-_.])(?=[A-Za-z]*[A-Z0-9])[A-Za-z0-9]{6}\b/g, '$1{name}'],
]

function hidePhrases(text: string, isOutput: boolean): string {
  const isEnvironment = environmentMarks.test(text)
  const phrases = [
    ...anywhere,
    ...(isEnvironment ? [...ofEnvironment, ofHistory] : []),
    ...(isOutput ? ofOutputs : []),
  ]
  return phrases.reduce((hidden, [pattern, stands]) => hidden.replace(pattern, stands), text)
}
