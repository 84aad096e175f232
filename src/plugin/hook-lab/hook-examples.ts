import { join } from 'node:path'
import { z } from 'zod'
import { isObject } from '../../core/json-fields.ts'
import { optionalText } from '../../core/schema.ts'
import { namesIn } from '../../io/directory.ts'
import { isDirectory } from '../../io/path-kind.ts'
import { parseYaml } from '../../io/yaml.ts'
import { hookEvents } from '../analyze/hooks/hook-events.ts'
import { readCaseText } from '../cases/read-case-text.ts'
import type { SimulatedEvent } from './contract.ts'
import { subjectField } from './event-effects.ts'
import type { LabNames, LabPlace } from './lab-place.ts'
import { simulatedEvents } from './simulated-events.ts'

const hookExampleSchema = z.strictObject({
  event: z.enum([...hookEvents.keys()]).describe('The event, as Claude Code calls it.'),
  input: z
    .record(z.string(), z.unknown())
    .default({})
    .describe(
      'Fields of the event. Missing fields are filled in; relative paths of tools start at the workspace.',
    ),
  expect: z
    .enum(['deny', 'block', 'ask', 'allow', 'modify', 'context', 'none'])
    .describe(
      'deny or block: the action is prevented. ask: the user is asked. allow: the action happens. modify: it happens with another input or output. context: the model gets additional context. none: no hook fires, or none has an opinion.',
    ),
  contains: optionalText('A text that must be in the reason, the context or the change.'),
})

export type HookExample = z.output<typeof hookExampleSchema>

/** A file of `evals/hooks/`: one example, or a list of them. */
export const hookExamplesSchema = z.union([hookExampleSchema, z.array(hookExampleSchema)])

export interface FoundExample {
  readonly example: HookExample
  /** Relative to the plugin, with a number if its file has several. */
  readonly source: string
}

const directory = 'evals/hooks'

/** Reads the examples in evals/hooks: what the hooks must answer. Throws GantryError INVALID_FILE for an invalid file. */
export function readHookExamples(pluginPath: string): readonly FoundExample[] {
  if (!isDirectory(join(pluginPath, directory))) return []
  const names = namesIn(join(pluginPath, directory)).filter((name) => /\.ya?ml$/.test(name))
  return names.toSorted().flatMap((name) => {
    const path = `${directory}/${name}`
    const text = readCaseText(pluginPath, path) ?? ''
    const { value } = parseYaml(text, join(pluginPath, path), hookExamplesSchema)
    if (!Array.isArray(value)) return [{ example: value, source: path }]
    return value.map((example, index) => ({ example, source: `${path}#${index + 1}` }))
  })
}

/** The event of an example: the nearest simulated one, overridden by the fields of the example. */
export function exampleEvent(
  { event, input }: HookExample,
  place: LabPlace,
  names: LabNames,
): SimulatedEvent {
  const known = simulatedEvents(event, place, names)
  const field = subjectField(event) ?? ''
  const base = known.find(({ payload }) => payload[field] === input[field]) ?? known[0]
  const fields =
    'tool_input' in input ? { ...input, tool_input: absolutePaths(input.tool_input, place) } : input
  return { label: 'example', intent: 'benign', event, payload: merged(base?.payload ?? {}, fields) }
}

/** Claude Code passes absolute paths to tools and hooks. The path is not normalised otherwise: `..` stays. */
function absolutePaths(input: unknown, { workspace, home }: LabPlace): unknown {
  if (!isObject(input)) return input
  return Object.fromEntries(
    Object.entries(input).map(([key, value]) => {
      if (!['file_path', 'notebook_path', 'path'].includes(key) || typeof value !== 'string')
        return [key, value]
      if (value.startsWith('~/')) return [key, `${home}/${value.slice(2)}`]
      return [key, value.startsWith('/') ? value : `${workspace}/${value}`]
    }),
  )
}

/** The tool input is replaced, not merged: fields of another call must not leak in. */
function merged(
  base: Readonly<Record<string, unknown>>,
  fields: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const together: Record<string, unknown> = { ...base }
  for (const [key, value] of Object.entries(fields)) {
    const there = together[key]
    together[key] = key !== 'tool_input' && isObject(there) && isObject(value) ? merged(there, value) : value
  }
  return together
}
