/** A word of a description, and the form in which it is compared. */
export interface ContentWord {
  readonly word: string
  readonly stem: string
}

/** The words that distinguish a description from others, in order: common words are removed. */
export function contentWords(description: string): readonly ContentWord[] {
  return (description.normalize('NFKC').toLowerCase().match(words) ?? [])
    .flatMap(pieces)
    .map((word) => ({ word, stem: stemOf(word) }))
    .filter(({ word, stem }) => !empty.has(word) && !empty.has(stem))
}

const words = /[\p{L}\p{N}]+(?:['’][\p{L}]+)?/gu
/** Scripts without blanks between words are compared two characters at a time. */
const unspaced = /^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]+$/u

function pieces(text: string): readonly string[] {
  if (!unspaced.test(text) || text.length < 3) return [text]
  const chars = [...text]
  return chars.slice(1).map((char, index) => `${chars[index]}${char}`)
}

/** Words of every description, and those by which authors say when something is to be used. */
const empty = new Set(
  `a about across after again all also always an and any are as ask asked asking asks assist assistant at available based be because
  been before being between both but by can claude code common could describe describes did different do does doing done during each
  e either else etc even every example examples file files first for from full g general get gets give given gives go good guidance had has
  have having help helping helps here how i if in including includes instead into is it its itself just keep kind like likes look
  looking looks made make makes making many may me mention mentions might more most much must my need needed needs new no not
  of off on one only or other our out over own per perform performing please proactively project provide provides s same say says
  second see should skill skills agent agents command commands so some something specific such sure t take than that the their them
  then there these they thing things this those through to too trigger triggers tool tools two type types u under up us use used useful user
  users uses using various very via want wanted wants was way we well were what whatever when whenever where whether which while who
  why will with within without work working works would you your`
    .split(/\s+/)
    .filter((each) => each !== ''),
)

/** So far only that `date` and `dates`, `format`, `formatted` and `formatting` meet. */
function stemOf(text: string): string {
  if (!/^[a-z']+$/.test(text)) return text
  const ending = endings.find((each) => text.endsWith(each) && text.length - each.length >= 3)
  if (ending === undefined) return text
  const cut = text.slice(0, -ending.length) + (ending === 'ies' ? 'y' : '')
  const isDoubled = cut.length > 3 && cut.at(-1) === cut.at(-2) && /[bdfgklmnprt]$/.test(cut)
  return isDoubled ? cut.slice(0, -1) : cut
}

const endings = ["'s", 'ies', 'ing', 'ed', 'es', 's', 'er', 'ion', 'e']
