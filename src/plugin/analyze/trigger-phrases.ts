/** The phrases of a text as a component has them. */
export function triggerFields(text: string, options?: TriggerOptions) {
  const { wanted, unwanted } = triggerPhrases(text, options)
  return { triggers: wanted, ...(unwanted.length > 0 && { negative_triggers: unwanted }) }
}

interface TriggerOptions {
  /** Quoted text is only wanted after words such as "asks to": elsewhere it may be a name or an output. */
  readonly isCuedOnly?: boolean
}

/**
 * Quoted phrases in the order of the description: what is quoted after words such as "asks to", and any other quoted text that a
 * user could type. A phrase after a negation, such as "do NOT use when", is unwanted.
 */
export function triggerPhrases(description: string, { isCuedOnly = false }: TriggerOptions = {}) {
  const text = description.replaceAll(/\s+/g, ' ')
  const quotes = [...text.matchAll(quotedText)]
  const isNegatedAt = negationIn(withoutQuotes(text, quotes))
  const wanted = new Set<string>()
  const unwanted = new Set<string>()
  let end = 0
  let isCued = false
  for (const match of quotes) {
    const phrase = (match[1] ?? match[2] ?? match[3] ?? '').trim()
    const before = text.slice(end, match.index)
    isCued =
      cue.test(before.slice(-cueCharacters)) ||
      (isCued && before.length <= cueCharacters && betweenQuotes.test(before))
    end = match.index + match[0].length
    if (phrase === '' || !(isCued || couldBeSaid(phrase))) continue
    if (isNegatedAt(match.index)) unwanted.add(phrase)
    else if (isCued || !isCuedOnly) wanted.add(phrase)
  }
  return { wanted: [...wanted], unwanted: [...unwanted].filter((phrase) => !wanted.has(phrase)) }
}

/** The same length, so that places stay the same. A quote that ends a sentence still does. */
function withoutQuotes(text: string, quotes: readonly RegExpExecArray[]): string {
  let end = 0
  const parts = quotes.map(({ 0: quote, index }) => {
    const before = text.slice(end, index)
    end = index + quote.length
    return `${before}${'_'.repeat(quote.length - 1)}${/[.!?](?=.$)/u.exec(quote)?.[0] ?? '_'}`
  })
  return [...parts, text.slice(end)]
    .join('')
    .replaceAll(/\b(?:e\.g|i\.e|vs)\./gi, (text) => '_'.repeat(text.length))
}

/** Where in a text, which is read forwards only, its sentence says when not to use something. */
function negationIn(rule: string): (index: number) => boolean {
  const marks = rule.matchAll(negation)
  let next = marks.next()
  let negated = false
  let before = false
  let listEnd = 0
  const outside: boolean[] = []
  const senseAfter = ({ index, 0: text, groups = {} }: RegExpExecArray): boolean => {
    const { list, not, except, exceptions, open, close } = groups
    if (list !== undefined) listEnd = index + text.length
    if (open !== undefined) outside.push(negated)
    if (close !== undefined) return outside.pop() ?? negated
    if (except !== undefined) return !negated
    if (exceptions !== undefined) return !before
    return not !== undefined || ((list ?? open) !== undefined && negated)
  }
  return (index) => {
    for (; next.done !== true && next.value.index < index; next = marks.next()) {
      const after = senseAfter(next.value)
      if (/^[.!?;]/.test(next.value[0])) before = negated
      negated = after
    }
    return negated || index < listEnd
  }
}

const used =
  'use[ds]?|using|usage|trigger\\w*|invok\\w*|activat\\w*|fire|fires|appl\\w+|load\\w*|run|call\\w*|select\\w*|choose|start\\w*|launch\\w*|respond\\w*|handl\\w*|cover\\w*|suit\\w*|intended|meant|needed|appropriate|relevant|say|says|mention|mentions|ask|asks|want|wants|for|when|whenever|if'
const nots = `not(?! (?:only|just|limited|necessarily)\\b)|never|(?:do|does|should|must|is|are|wo|ca)n[’']?t|cannot`
/**
 * Exceptions turn the sense around, a bracket ends what began in it, and a new sentence or instruction begins again. Quotes are
 * underscores here.
 */
const negation = new RegExp(
  [
    `(?<concession>\\beven (?:if|when|though)\\b[^,;]*)`,
    `(?<double>\\b(?:${nots}) (?:be (?:afraid|shy)|hesitate|forget|fail|neglect|miss|skip|avoid|ignore)\\b)`,
    `(?<list>\\b(?:not|rather than|instead of|as opposed to|exclud(?:es?|ing)|without)(?: on| for)?:? _+(?:[\\s,;/]*(?:or|and|nor)?[\\s,;/]*_+)*)`,
    `(?<not>\\b(?:${nots}|avoid|skip|ignore|exclud\\w+)(?: (?!only\\b)[\\w-]+){0,2}? (?:${used})\\b|\\bavoid\\b|\\b(?:negative|anti)[- ]triggers?\\b|\\bout of scope\\b|\\bnot:)`,
    `(?<exceptions>\\bexceptions?:)`,
    `(?<except>\\bunless\\b|\\bexcept\\b|\\bother than\\b)`,
    `(?<again>[.!?;](?=\\s)|\\b(?:use[ds]?|trigger\\w*|invoke|activate) (?:this|it|the skill|when\\w*|if|for|only|on|phrases)\\b|\\b(?:use|triggers?|examples?):|\\b(?:but|instead|then) (?:do |always )?use\\b|\\bonly (?:when|if|for)\\b)`,
    `(?<open>\\()`,
    `(?<close>\\))`,
  ].join('|'),
  'gi',
)

/** A single quote next to a letter is an apostrophe. */
const quotedText = /"([^"]{1,200})"|“([^”]{1,200})”|(?<![\p{L}\p{N}])'([^']{1,200})'(?![\p{L}\p{N}])/gu
const cue =
  /\b(?:(?:asks?|needs?|wants?) to|mentions?|says?)[\s:,(]*(?:something like|e\.g\.|things like)?[\s:,(]*$/i
const cueCharacters = 60
const betweenQuotes = /^[\s,;/]*(?:or|and)?[\s,;/]*$/i

function couldBeSaid(phrase: string): boolean {
  return phrase.length >= 3 && phrase.length <= 50 && /^\p{L}/u.test(phrase)
}
