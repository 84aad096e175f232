import { nearest } from '../../core/nearest.ts'
import type { ModelWritten } from './component-prompt.ts'
import { type ScenarioType, type SemanticVariation, type SetupMessage, scenarioTypes } from './contract.ts'
import { normalText } from './likeness.ts'
import { isNameOf, namesComponent } from './names-component.ts'
import type { Neighbour } from './neighbours.ts'
import type { Item } from './read-item.ts'
import { semanticVariationTypes } from './semantic-variations.ts'
import { setupMessages } from './setup-messages.ts'
import type { Slot } from './slot.ts'

/** A slot that is filled. */
export interface Draft {
  readonly slot: Slot
  readonly prompt: string
  readonly reasoning?: string
  readonly phrase?: string
  readonly variation?: SemanticVariation
  readonly setup?: readonly SetupMessage[]
  readonly tags: readonly string[]
  /** What was put right. */
  readonly repairs: readonly string[]
}

export type Checked =
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

export type DropReason = keyof typeof dropReasons

export interface ItemScene {
  readonly entry: ModelWritten
  readonly neighbours: readonly Neighbour[]
  /** Not filled yet. */
  readonly open: readonly Slot[]
}

const maxPrompt = 8_000

/** What one scenario of an answer is good for. Only what cannot change its meaning is put right; everything else is dropped. */
export function checkItem(item: Item, { entry, neighbours, open }: ItemScene): Checked {
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

function dropped(reason: DropReason): Checked {
  return { kind: 'dropped', reason }
}

/** By the slot it names, or, when it names none or has another type, the first open one of its type and idea. */
function slotFor(
  { slot: named, base_id, scenario_type }: Item,
  open: readonly Slot[],
): DropReason | { readonly slot: Slot; readonly repairs: readonly string[] } {
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
      ...(named !== undefined && named !== slot.id
        ? [`it was said to be for slot ${named.slice(0, 20)}`]
        : []),
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

/** One word alone is everybody's. */
function usesPhrase(prompt: string, phrases: readonly string[]): boolean {
  const said = ` ${normalText(prompt)} `
  return phrases.map(normalText).some((phrase) => phrase.includes(' ') && said.includes(` ${phrase} `))
}

function semanticOf(
  { original_trigger_phrase: said = '', semantic_variation_type }: Item,
  slot: Slot,
  entry: ModelWritten,
  repairs: string[],
): Pick<Draft, 'phrase' | 'variation'> {
  const told = semanticVariationTypes.find((type) => type === semantic_variation_type)
  if (told !== slot.variation) repairs.push('semantic_variation_type was not the one of the slot')
  const variation = told ?? slot.variation
  const phrases = phrasesOf(entry)
  const phrase = phrases.find((own) => normalText(own) === normalText(said)) ?? nearest(said, phrases)
  if (phrase === undefined && phrases.length > 0)
    repairs.push('original_trigger_phrase was none of the phrases')
  return { ...(phrase !== undefined && { phrase }), ...(variation !== undefined && { variation }) }
}

function tagsOf(
  { neighbour }: Item,
  { base, negative }: Slot,
  neighbours: readonly Neighbour[],
  repairs: string[],
): readonly string[] {
  const tags = [`idea-${base}`]
  if (negative === undefined) return tags
  if (negative !== 'neighbour') return [...tags, negative === 'unrelated' ? 'unrelated' : 'near-miss']
  const aimedAt = neighbours.find(
    ({ key, entry, isRival }) => isRival && (key === neighbour || entry.component.name === neighbour),
  )
  if (aimedAt === undefined) repairs.push('the neighbour it is aimed at was not told')
  return [
    ...tags,
    'near-miss',
    ...(aimedAt === undefined ? [] : [`neighbour:${aimedAt.entry.component.name}`]),
  ]
}
