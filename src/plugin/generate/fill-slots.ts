import { nearest } from '../../core/nearest.ts'
import { normalText } from '../../core/normal-text.ts'
import { type ModelScenario, readModelScenario, setupMessages } from './answer-schema.ts'
import type { ModelWritten, Neighbour } from './component-prompt.ts'
import {
  type ScenarioType,
  type SemanticVariation,
  type SetupMessage,
  scenarioTypes,
  semanticVariationTypes,
} from './contract.ts'
import type { ScenarioSlot } from './plan-slots.ts'

export interface Dropped {
  readonly reason: DropReason
  /** The model's text, cut. */
  readonly prompt: string
}

const shown = 200

/** Puts the scenarios of one answer into the open slots, in order. Scenarios that do not fit or repeat another are returned as dropped. */
export function fillSlots(
  answer: readonly Readonly<Record<string, unknown>>[],
  scene: OpenSlots,
  earlier: readonly Draft[],
) {
  const drafts: Draft[] = []
  const dropped: Dropped[] = []
  for (const raw of answer) {
    const item = readModelScenario(raw)
    const taken = new Set(drafts.map(({ slot }) => slot.id))
    const checked = checkModelScenario(item, {
      ...scene,
      open: scene.open.filter(({ id }) => !taken.has(id)),
    })
    const prompt = (item.user_prompt ?? '').slice(0, shown)
    if (checked.kind === 'dropped') dropped.push({ reason: checked.reason, prompt })
    else if (isRepeated(checked.draft, [...earlier, ...drafts]))
      dropped.push({ reason: 'near_duplicate', prompt })
    else drafts.push(checked.draft)
  }
  return { drafts, dropped }
}

/** The setup messages are part of the comparison. */
function isRepeated(draft: Draft, others: readonly Draft[]): boolean {
  const comparable = (of: Draft) => ({
    prompt: [...(of.setup ?? []).map(({ content }) => content), of.prompt].join('\n'),
    base: of.slot.base,
  })
  return others.some((other) => isNearDuplicate(comparable(draft), comparable(other)))
}

export interface Draft {
  readonly slot: ScenarioSlot
  readonly prompt: string
  readonly reasoning?: string
  readonly phrase?: string
  readonly variation?: SemanticVariation
  readonly setup?: readonly SetupMessage[]
  readonly tags: readonly string[]
  readonly repairs: readonly string[]
}

type CheckedScenario =
  | { readonly kind: 'fits'; readonly draft: Draft }
  | { readonly kind: 'dropped'; readonly reason: DropReason }

export const dropReasons = {
  empty_prompt: 'there was no message',
  prompt_too_long: 'the message was too long',
  wrong_component: 'it was about another component, or one that does not exist',
  unknown_type: 'its scenario_type was none of the types',
  no_open_slot: 'no slot of its type was open',
  wrong_base: 'its base_id was not the idea of the slot',
  contradicts_type: 'expected_trigger contradicted the type',
  slash_command: 'the message was a command',
  names_component: 'the message named the component',
  uses_trigger_phrase: 'the message used a phrase of the description word for word',
  no_setup_messages: 'a proactive scenario had no setup messages that begin with the person',
  near_duplicate: 'the message said nearly the same as another one',
} as const

type DropReason = keyof typeof dropReasons

interface OpenSlots {
  readonly entry: ModelWritten
  readonly neighbours: readonly Neighbour[]
  readonly open: readonly ScenarioSlot[]
}

const maxPrompt = 8_000

/** Checks one scenario of an answer. Repairs only what cannot change its meaning; anything else drops the scenario. */
export function checkModelScenario(
  item: ModelScenario,
  { entry, neighbours, open }: OpenSlots,
): CheckedScenario {
  const prompt = item.user_prompt ?? ''
  if (prompt === '') return dropped('empty_prompt')
  if (prompt.length > maxPrompt) return dropped('prompt_too_long')
  const repairs: string[] = []
  if (item.component !== undefined && !isNameOf(item.component, entry)) {
    if (nearest(item.component, [entry.component.name]) === undefined) return dropped('wrong_component')
    repairs.push('the name of the component was misspelt')
  }
  const found = slotFor(item, open)
  if (typeof found === 'string') return dropped(found)
  const { slot } = found
  repairs.push(...found.repairs)
  const expected = slot.type !== 'negative'
  if (item.expected_trigger === undefined) repairs.push('expected_trigger was missing')
  else if (item.expected_trigger !== expected) return dropped('contradicts_type')
  if (prompt.startsWith('/')) return dropped('slash_command')
  if (namingIsForbidden.has(slot.type) && namesComponent(prompt, entry)) return dropped('names_component')
  if (phraseIsForbidden.has(slot.type) && usesPhrase(prompt, phrasesOf(entry)))
    return dropped('uses_trigger_phrase')
  const setup = setupMessages(item.setup_messages, item.setup_context)
  if (slot.type === 'proactive' && setup === null) return dropped('no_setup_messages')
  if (slot.type !== 'proactive' && setup !== null) repairs.push('setup messages were left out')
  const draft: Draft = {
    slot,
    prompt,
    tags: tagsOf(item, slot, neighbours, repairs),
    ...(item.reasoning !== undefined && item.reasoning !== '' && { reasoning: item.reasoning }),
    ...(slot.type === 'semantic' && semanticOf(item, slot, entry, repairs)),
    ...(slot.type === 'proactive' && setup !== null && { setup }),
    repairs,
  }
  return { kind: 'fits', draft }
}

const namingIsForbidden: ReadonlySet<ScenarioType> = new Set([
  'paraphrased',
  'semantic',
  'proactive',
  'negative',
])
const phraseIsForbidden: ReadonlySet<ScenarioType> = new Set(['paraphrased', 'semantic'])

function dropped(reason: DropReason): CheckedScenario {
  return { kind: 'dropped', reason }
}

/** The slot it names; when it names none or has another type, the first open slot of its type and idea. */
function slotFor({ slot: named, base_id, scenario_type }: ModelScenario, open: readonly ScenarioSlot[]) {
  const byName = open.find(({ id }) => id === named)
  const type = scenario_type === undefined ? byName?.type : typeOf(scenario_type)
  if (type === undefined) return 'unknown_type'
  const ofType = open.filter((slot) => slot.type === type)
  if (ofType.length === 0) return 'no_open_slot'
  const fitting = base_id === undefined ? ofType : ofType.filter(({ base }) => base === base_id)
  const slot = fitting.find(({ id }) => id === named) ?? fitting[0]
  if (slot === undefined) return 'wrong_base'
  return {
    slot,
    repairs: [
      ...(base_id === undefined ? ['base_id was missing'] : []),
      ...(named !== undefined && named !== slot.id ? [`it was meant for slot ${named.slice(0, 20)}`] : []),
    ],
  }
}

/** `edge-case` and `Edge Case` are the same word. */
function typeOf(written: string): ScenarioType | undefined {
  const word = written.toLowerCase().replaceAll(/[\s-]+/g, '_')
  return scenarioTypes.find((type) => type === word)
}

function phrasesOf({ type, component }: ModelWritten): readonly string[] {
  return type === 'skill' ? component.triggers : []
}

/** A phrase of a single word is too common to count. */
function usesPhrase(prompt: string, phrases: readonly string[]): boolean {
  const message = ` ${normalText(prompt)} `
  return phrases.map(normalText).some((phrase) => phrase.includes(' ') && message.includes(` ${phrase} `))
}

function semanticOf(
  { original_trigger_phrase: written = '', semantic_variation_type }: ModelScenario,
  slot: ScenarioSlot,
  entry: ModelWritten,
  repairs: string[],
): Pick<Draft, 'phrase' | 'variation'> {
  const given = semanticVariationTypes.find((type) => type === semantic_variation_type)
  if (given !== slot.variation) repairs.push('semantic_variation_type was not the one of the slot')
  const variation = given ?? slot.variation
  const phrases = phrasesOf(entry)
  const phrase = phrases.find((own) => normalText(own) === normalText(written)) ?? nearest(written, phrases)
  if (phrase === undefined && phrases.length > 0)
    repairs.push('original_trigger_phrase was none of the phrases')
  return { ...(phrase !== undefined && { phrase }), ...(variation !== undefined && { variation }) }
}

function tagsOf(
  { neighbour }: ModelScenario,
  { base, negative }: ScenarioSlot,
  neighbours: readonly Neighbour[],
  repairs: string[],
): readonly string[] {
  const tags = [`idea-${base}`]
  if (negative === undefined) return tags
  if (negative !== 'neighbour') return [...tags, negative === 'unrelated' ? 'unrelated' : 'near-miss']
  const aimedAt = neighbours.find(
    ({ key, entry, isRival }) => isRival && (key === neighbour || entry.component.name === neighbour),
  )
  if (aimedAt === undefined) repairs.push('the neighbour was missing')
  return [
    ...tags,
    'near-miss',
    ...(aimedAt === undefined ? [] : [`neighbour:${aimedAt.entry.component.name}`]),
  ]
}

/**
 * Whether a message names the component, rather than just using a word that is also its name: a skill called `pdf` is not named
 * by every message about a PDF.
 */
export function namesComponent(message: string, { type, component }: ModelWritten): boolean {
  if (component.name.trim() === '') return false
  const own = RegExp.escape(component.name)
  const noun = type === 'skill' ? 'skill' : '(?:sub)?agent'
  const forms = [
    // A name of several parts, written with its separators, is not an ordinary word.
    ...(/[-_:/.]/.test(component.name) ? [own] : []),
    ...(component.cli_name === component.name ? [] : [RegExp.escape(component.cli_name)]),
    `/${own}`,
    `@(?:agent-)?${own}`,
    `${own}['"\`”’]?\\s+${noun}`,
    `${noun}\\s+(?:called\\s+|named\\s+)?['"\`“‘]?${own}`,
    `\`${own}\``,
  ]
  return new RegExp(`(?<![\\p{L}\\p{N}_-])(?:${forms.join('|')})(?![\\p{L}\\p{N}_-])`, 'iu').test(message)
}

/** Whether a name written by the model means this component: with or without its plugin, in any spelling. */
function isNameOf(written: string, { component }: ModelWritten): boolean {
  const wanted = [component.name, component.cli_name, `${component.plugin}:${component.name}`]
  return wanted.map(folded).includes(folded(written))
}

function folded(name: string): string {
  return name
    .trim()
    .replace(/^[/@]/, '')
    .toLowerCase()
    .replaceAll(/[\s_/:-]+/g, '-')
}

/** Similarity from which two messages count as duplicates. */
const limits = { sameIdea: 0.9, otherIdea: 0.75 }

const filler = new Set(
  'a an the please can could would will you i me my we our us to for of in on at and or is are be this that it just some with'.split(
    ' ',
  ),
)

interface PromptVariation {
  readonly prompt: string
  /** The idea it is a variation of. */
  readonly base: string
}

/** Whether two messages are nearly the same. Variations of one idea may be more alike than messages of two ideas. */
export function isNearDuplicate(a: PromptVariation, b: PromptVariation): boolean {
  const [first, second] = [normalText(a.prompt), normalText(b.prompt)]
  if (first === second) return true
  const [words, others] = [contentWords(first), contentWords(second)]
  if (words.size > 0 && words.size === others.size && words.isSubsetOf(others)) return true
  return likeness(first, second) >= (a.base === b.base ? limits.sameIdea : limits.otherIdea)
}

/** The share of runs of three letters that two normal texts have in common; needs no words, so it works in every script. */
function likeness(a: string, b: string): number {
  const [first, second] = [trigrams(a), trigrams(b)]
  const shared = first.intersection(second).size
  return shared / Math.max(1, first.size + second.size - shared)
}

function trigrams(text: string): Set<string> {
  const padded = ` ${text} `
  return new Set(Array.from({ length: Math.max(1, padded.length - 2) }, (_, at) => padded.slice(at, at + 3)))
}

function contentWords(text: string): Set<string> {
  return new Set(text.split(' ').filter((word) => word !== '' && !filler.has(word)))
}
