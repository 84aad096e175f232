import { counted } from '../../core/counted.ts'
import { headAndTail } from '../../core/shorten.ts'
import { type DataBlock, quoteData } from '../../judge/quote-data.ts'
import type { AgentComponent, SkillComponent } from '../analyze/contract.ts'
import type { AnyComponent } from '../component-list.ts'
import type { Neighbour } from './neighbours.ts'
import type { NegativeKind, Slot } from './slot.ts'

export type ModelWritten = Extract<AnyComponent, { readonly type: 'skill' | 'agent' }>

export interface PromptParts {
  readonly entry: ModelWritten
  readonly neighbours: readonly Neighbour[]
  readonly slots: readonly Slot[]
  /** What was thought of already for ideas of these slots and others, such as `b1: …`. */
  readonly ideas: readonly string[]
  /** Messages that are written already: nothing like them is wanted again. */
  readonly written: readonly string[]
  /** Why earlier answers to these slots could not be used. Our words, no one else's. */
  readonly problems: readonly string[]
}

/** In characters, and in items. */
const limits = { description: 6_000, phrase: 200, message: 600, neighbour: 300, phrases: 30, examples: 8 }

/** What the model is asked about one component. The same parts give the same text, letter for letter. */
export function componentPrompt({
  entry,
  neighbours,
  slots,
  ideas: known,
  written,
  problems,
}: PromptParts): string {
  const { text } = quoteData([
    { title: `The component, ${entry.type === 'skill' ? 'a skill' : 'an agent'}`, text: factsOf(entry) },
    ...(neighbours.length === 0 ? [] : [neighbourBlock(neighbours)]),
    ...(known.length === 0 ? [] : [{ title: 'Ideas so far; keep to them', text: known.join('\n') }]),
    ...(written.length === 0 ? [] : [writtenBlock(written)]),
  ])
  const ideas = [...new Set(slots.map(({ base }) => base))]
  return [
    text,
    [
      `Write ${counted(slots.length, 'scenario')} from ${counted(ideas.length, 'idea')}: ${ideas.join(', ')}.`,
      'Slots:',
      ...slots.map((slot) => `- ${slotText(slot, neighbours)}`),
    ].join('\n'),
    ...(problems.length === 0
      ? []
      : [
          [
            'Earlier answers to these slots could not be used:',
            ...problems.map((problem) => `- ${problem}`),
          ].join('\n'),
        ]),
  ].join('\n\n')
}

function factsOf(entry: ModelWritten): string {
  const { name, plugin, description } = entry.component
  const facts = {
    name,
    plugin,
    description: headAndTail(description, limits.description),
    ...(entry.type === 'skill' ? skillFacts(entry.component) : agentFacts(entry.component)),
  }
  return JSON.stringify(facts, null, 1)
}

function skillFacts({ triggers, intents }: SkillComponent): object {
  return {
    phrases: triggers.slice(0, limits.phrases).map((phrase) => headAndTail(phrase, limits.phrase)),
    intents: intents
      .slice(0, limits.phrases)
      .map(({ action, object, context }) =>
        headAndTail([action, object, context].filter((part) => part !== '').join(' '), limits.phrase),
      ),
  }
}

function agentFacts({ examples, tools }: AgentComponent): object {
  return {
    examples: examples.slice(0, limits.examples).map(({ context, user_message, commentary }) => ({
      context: headAndTail(context, limits.message),
      user_message: headAndTail(user_message, limits.message),
      commentary: headAndTail(commentary, limits.message),
    })),
    tools: tools.slice(0, limits.phrases),
  }
}

/** Names are the author's words too: outside the block a neighbour is called by its key. */
function neighbourBlock(neighbours: readonly Neighbour[]): DataBlock {
  const lines = neighbours.map(({ key, entry, isRival }) =>
    JSON.stringify({
      key,
      type: entry.type,
      name: entry.component.name,
      description: headAndTail(entry.component.description, limits.neighbour),
      ...(isRival && { rival: true }),
    }),
  )
  return { title: 'Other components of the plugin, its neighbours', text: lines.join('\n') }
}

function writtenBlock(written: readonly string[]): DataBlock {
  return {
    title: 'Messages that are written already',
    text: written.map((message) => JSON.stringify(headAndTail(message, limits.message))).join('\n'),
  }
}

function slotText({ id, type, base, variation, negative }: Slot, neighbours: readonly Neighbour[]): string {
  const more =
    variation !== undefined
      ? `, variation ${variation}`
      : negative === undefined
        ? ''
        : `, ${negativeText(negative, neighbours)}`
  return `${id}: ${type}, idea ${base}${more}`
}

function negativeText(kind: NegativeKind, neighbours: readonly Neighbour[]): string {
  if (kind !== 'neighbour') return `kind ${kind}`
  const rivals = neighbours.filter(({ isRival }) => isRival).map(({ key }) => key)
  return `kind neighbour, aimed at ${rivals.join(' or ')}`
}
