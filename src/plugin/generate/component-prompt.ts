import { counted } from '../../core/counted.ts'
import { headAndTail } from '../../core/shorten.ts'
import { textBeside } from '../../io/text-beside.ts'
import { type DataBlock, quoteData } from '../../judge/quote-data.ts'
import type { AgentComponent, Analysis, SkillComponent } from '../analyze/contract.ts'
import { type AnyComponent, componentId, componentList } from '../component-list.ts'
import type { NegativeKind, ScenarioSlot } from './plan-slots.ts'

export type ModelWritten = Extract<AnyComponent, { readonly type: 'skill' | 'agent' }>

export interface ComponentPromptParts {
  readonly entry: ModelWritten
  readonly neighbours: readonly Neighbour[]
  readonly slots: readonly ScenarioSlot[]
  /** Ideas so far, such as `b1: …`. */
  readonly ideas: readonly string[]
  /** Messages written so far; new ones must differ. */
  readonly written: readonly string[]
  /** Why earlier answers to these slots could not be used. Fixed texts only. */
  readonly problems: readonly string[]
}

/** In characters, and in items. */
const limits = { description: 6_000, phrase: 200, message: 600, neighbour: 300, phrases: 30, examples: 8 }

/** The prompt about one component. The same parts give exactly the same text. */
export function componentPrompt({
  entry,
  neighbours,
  slots,
  ideas: known,
  written,
  problems,
}: ComponentPromptParts): string {
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

function skillFacts({ triggers, negative_triggers: unwanted = [], intents }: SkillComponent): object {
  const phrases = (list: readonly string[]): string[] =>
    list.slice(0, limits.phrases).map((phrase) => headAndTail(phrase, limits.phrase))
  return {
    phrases: phrases(triggers),
    ...(unwanted.length > 0 && { not_for: phrases(unwanted) }),
    intents: intents
      .slice(0, limits.phrases)
      .map(({ action, object, context }) =>
        headAndTail([action, object, context].filter((part) => part !== '').join(' '), limits.phrase),
      ),
  }
}

function agentFacts({ examples, tools }: AgentComponent): object {
  return {
    examples: examples
      .slice(0, limits.examples)
      .map(({ context, user_message, commentary, is_negative }) => ({
        context: headAndTail(context, limits.message),
        user_message: headAndTail(user_message, limits.message),
        commentary: headAndTail(commentary, limits.message),
        ...(is_negative === true && { should_be_taken: false }),
      })),
    tools: tools.slice(0, limits.phrases),
  }
}

/** Names are untrusted text too: outside the block a neighbour is called by its key. */
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

function slotText(
  { id, type, base, variation, negative }: ScenarioSlot,
  neighbours: readonly Neighbour[],
): string {
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

/** The same for every component of every plugin, so that a provider can cache it. Contains no text of the plugin's author. */
export const generationSystem = textBeside(import.meta.url, './generation-system.txt').trimEnd()

/** Another component that the model could choose instead. */
export interface Neighbour {
  /** `n1`, used in the prompt. */
  readonly key: string
  readonly entry: AnyComponent
  /** The analysis found that the two have nearly the same description or trigger phrase. */
  readonly isRival: boolean
}

const rivalry: ReadonlySet<string> = new Set(['OVERLAPPING_DESCRIPTIONS', 'SHARED_TRIGGER'])

/** Keeps the prompt short. */
const most = 30

/** The components listed together with a skill or an agent, rivals first. Hooks and servers are not chosen by their description. */
export function neighboursOf(
  analysis: Pick<Analysis, 'components' | 'findings'>,
  { type, component }: AnyComponent,
): readonly Neighbour[] {
  const own = componentId(type, component.name)
  const rivals = new Set(
    analysis.findings
      .filter(({ code, components }) => rivalry.has(code) && components.includes(own))
      .flatMap(({ components }) => components),
  )
  return componentList(analysis.components)
    .filter((entry) => entry.type !== 'hook' && entry.type !== 'mcp_server')
    .map((entry) => ({ entry, id: componentId(entry.type, entry.component.name) }))
    .filter(({ id }) => id !== own)
    .map(({ entry, id }) => ({ entry, isRival: rivals.has(id) }))
    .toSorted((a, b) => Number(b.isRival) - Number(a.isRival))
    .slice(0, most)
    .map((neighbour, index) => ({ key: `n${index + 1}`, ...neighbour }))
}
