import { defined } from '../../../core/json-fields.ts'
import { normalText } from '../../../core/normal-text.ts'
import { type AnyComponent, componentId } from '../../component-list.ts'
import type { Notes } from '../notes.ts'
import type { PluginContent } from '../read-plugin.ts'

/** A component that competes with others for the same requests. */
export interface Rival extends Described {
  /** What a user might say to get it. */
  readonly phrases: readonly string[]
  readonly isOwn: boolean
  readonly path: string
  readonly line?: number
}

/** Reports components that compete: by similar descriptions, or by the same phrase. */
export function noteOverlaps(rivals: readonly Rival[], notes: Notes): void {
  const byId = new Map(rivals.map((rival) => [rival.id, rival]))
  const place = (ids: readonly string[]) => {
    const first = ids.map((id) => byId.get(id)).find((rival) => rival?.isOwn === true)
    return first === undefined ? {} : { path: first.path, line: first.line }
  }
  for (const { ids, similarity, shared } of findOverlaps(rivals, (id) => byId.get(id)?.isOwn === true))
    notes.add('OVERLAPPING_DESCRIPTIONS', {
      message: `${ids[0]} and ${ids[1]} share ${Math.round(similarity * 100)}% of the words of their descriptions: ${shared.join('; ')}`,
      // A command that starts an agent or a skill describes the same work on purpose.
      ...(ids[0].split(':')[0] !== ids[1].split(':')[0] && { severity: 'info' }),
      components: ids,
      ...place(ids),
      detail: { similarity: Math.round(similarity * 1_000) / 1_000, shared },
    })
  for (const { phrase, ids } of sharedPhrases(rivals))
    notes.add('SHARED_TRIGGER', {
      message: `${ids.join(' and ')} have the same trigger phrase: "${phrase}"`,
      components: ids,
      ...place(ids),
      detail: { phrase },
    })
}

function sharedPhrases(rivals: readonly Rival[]) {
  const claims = rivals.flatMap(({ id, isOwn, phrases }) =>
    phrases.map((phrase) => ({ id, isOwn, phrase, key: normalText(phrase) })),
  )
  return [...Map.groupBy(claims, ({ key }) => key)]
    .map(([key, group]) => ({
      key,
      phrase: group[0]?.phrase ?? '',
      ids: [...new Set(group.map(({ id }) => id))],
      isOwn: group.some((claim) => claim.isOwn),
    }))
    .filter(({ key, ids, isOwn }) => key !== '' && ids.length > 1 && isOwn)
}

/** The components of a plugin that a model can confuse: those it sees in the listing and can choose. */
export function rivalsOf({ skills, commands, agents }: PluginContent, isOwn: boolean): readonly Rival[] {
  const rival = (
    type: 'command' | 'skill' | 'agent',
    { name, cli_name, description, path, line }: AnyComponent['component'],
    phrases: readonly string[],
  ): Rival =>
    defined({ id: componentId(type, isOwn ? name : cli_name), description, phrases, isOwn, path, line })
  return [
    ...skills
      .filter(({ listed }) => listed !== null)
      .map(({ component }) => rival('skill', component, component.triggers)),
    ...commands
      .filter(({ listed }) => listed !== null)
      .map(({ component }) => rival('command', component, component.triggers ?? [])),
    ...agents.map((agent) =>
      rival(
        'agent',
        agent,
        agent.examples.flatMap(({ user_message, is_negative }) => (is_negative ? [] : [user_message])),
      ),
    ),
  ]
}

/** A component that a model chooses by its description. */
interface Described {
  readonly id: string
  readonly description: string
}

/** From this similarity on, two descriptions count as nearly the same. */
const leastSimilarity = 0.65
const leastShared = 3
const mostTold = 5
/** When all descriptions are alike, more pairs would not help. */
const mostPairs = 100
/** More than any set of plugins has; every pair is compared. */
const mostCompared = 1_000
/** What follows in a longer description is rarely about when to use the component. */
const mostCharacters = 2_000

/**
 * Pairs of components with nearly the same description, compared by words. At least one of the two is `isOwn`: pairs of other
 * plugins are not reported.
 */
export function findOverlaps(described: readonly Described[], isOwn: (id: string) => boolean) {
  const texts = described.slice(0, mostCompared).map(({ id, description }): Text => {
    const content = contentWords(withoutExamples(description).slice(0, mostCharacters))
    const set = new Set(content.map(({ stem }) => stem))
    const names = new Set((description.match(properNames) ?? []).map(plainWord))
    const said = new Set((description.match(words) ?? []).map(plainWord))
    const subjects = (id.slice(id.lastIndexOf(':') + 1).match(words) ?? []).map(plainWord)
    return { id, words: content, set, said, names, subjects, isOwn: isOwn(id) }
  })
  const found: { readonly a: Text; readonly b: Text; readonly similarity: number }[] = []
  const having = new Map<string, Text[]>()
  for (const b of texts) {
    const common = new Map<Text, number>()
    for (const stem of b.set) {
      const before = having.get(stem) ?? []
      for (const a of before) common.set(a, (common.get(a) ?? 0) + 1)
      having.set(stem, before)
      before.push(b)
    }
    for (const [a, count] of common) {
      const similarity = count / Math.sqrt(a.set.size * b.set.size)
      const isClose = count >= leastShared && similarity >= leastSimilarity && !areToldApart(a, b)
      if (isClose && (a.isOwn || b.isOwn)) found.push({ a, b, similarity })
    }
  }
  return found
    .sort(
      (x, y) =>
        y.similarity - x.similarity ||
        texts.indexOf(x.a) - texts.indexOf(y.a) ||
        texts.indexOf(x.b) - texts.indexOf(y.b),
    )
    .slice(0, mostPairs)
    .map(({ a, b, similarity }) => ({
      ids: [a.id, b.id] as const,
      /** From 0 to 1: the share of their words that two descriptions have in common. */
      similarity,
      /** What they have in common, as written in the first. */
      shared: sharedRuns(a.words, b.words, mostTold),
    }))
}

interface Text {
  readonly id: string
  readonly words: readonly ContentWord[]
  readonly set: ReadonlySet<string>
  /** Every word of the description. */
  readonly said: ReadonlySet<string>
  /** Names such as `Python` in it. */
  readonly names: ReadonlySet<string>
  /** Words of the name. */
  readonly subjects: readonly string[]
  readonly isOwn: boolean
}

/**
 * Each is about something with a name, like Python and TypeScript, or says what it is named for and the other does not mention, like
 * `export` and `import`. Of two descriptions that differ only in this a model still chooses the right one.
 */
function areToldApart(a: Text, b: Text): boolean {
  const [ofA, ofB] = [a.names.difference(b.names), b.names.difference(a.names)]
  const isNamedApart =
    a.subjects.some((word) => a.said.has(word) && !b.said.has(word)) &&
    b.subjects.some((word) => b.said.has(word) && !a.said.has(word))
  return (
    isNamedApart ||
    (ofA.size > 0 && ofB.size > 0) ||
    a.subjects.some((word) => ofA.has(word)) ||
    b.subjects.some((word) => ofB.has(word))
  )
}

/** Words with a capital letter inside of a sentence. */
const properNames = /(?<=[\p{Ll}\p{N},;(] )\.?\p{Lu}[\p{L}\p{N}+#.]*\b[+#]*/gu

function plainWord(word: string): string {
  return word.toLowerCase().replace('c++', 'cpp').replace('c#', 'csharp')
}

function withoutExamples(text: string): string {
  const at = text.toLowerCase().indexOf('<example>')
  return at === -1 ? text : text.slice(0, at)
}

/**
 * Runs of at least two words that two texts have in common, the longest first, in the words of the first text; single words where
 * there are no runs.
 */
function sharedRuns(a: readonly ContentWord[], b: readonly ContentWord[], most: number): readonly string[] {
  const places = new Map<string, number[]>()
  for (const [index, { stem }] of b.entries()) places.set(stem, [...(places.get(stem) ?? []), index])
  const runs: (readonly ContentWord[])[] = []
  let before = new Map<number, number>()
  for (const [index, { stem }] of a.entries()) {
    const lengths = new Map<number, number>()
    for (const at of places.get(stem) ?? []) {
      const length = (before.get(at - 1) ?? 0) + 1
      lengths.set(at, length)
      const goesOn = a[index + 1] !== undefined && a[index + 1]?.stem === b[at + 1]?.stem
      if (length > 1 && !goesOn) runs.push(a.slice(index - length + 1, index + 1))
    }
    before = lengths
  }
  const texts = runs
    .toSorted((x, y) => y.length - x.length)
    .map((run) => run.map(({ word }) => word).join(' '))
  const kept = texts.filter((text, index) => !texts.slice(0, index).some((longer) => longer.includes(text)))
  const single = a.filter(({ stem }) => places.has(stem)).map(({ word }) => word)
  return (kept.length > 0 ? kept : [...new Set(single)]).slice(0, most)
}

/** A word of a description, and the form in which it is compared. */
interface ContentWord {
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

/** Minimal stemming: `date` and `dates`, or `format`, `formatted` and `formatting`, become equal. */
function stemOf(text: string): string {
  if (!/^[a-z']+$/.test(text)) return text
  const ending = endings.find((each) => text.endsWith(each) && text.length - each.length >= 3)
  if (ending === undefined) return text
  const cut = text.slice(0, -ending.length) + (ending === 'ies' ? 'y' : '')
  const isDoubled = cut.length > 3 && cut.at(-1) === cut.at(-2) && /[bdfgklmnprt]$/.test(cut)
  return isDoubled ? cut.slice(0, -1) : cut
}

const endings = ["'s", 'ies', 'ing', 'ed', 'es', 's', 'er', 'ion', 'e']
