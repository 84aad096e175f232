import { basename } from 'node:path'
import { z } from 'zod'
import { bareAgents } from '../agents/index.ts'
import { GantryError } from '../core/error.ts'
import { issueText } from '../io/issue-text.ts'

export interface Converted {
  readonly config: Readonly<Record<string, unknown>>
  readonly notes: readonly string[]
}

const toolSchema = z.looseObject({
  name: z.string().optional(),
  command: z.string().optional(),
  models: z.array(z.string()).default([]),
})

const profileSchema = z.looseObject({
  name: z.string().optional(),
  tools: z.array(z.string()).min(1),
  models: z.array(z.string()).default([]),
})

const priceSchema = z.looseObject({
  input_cost_per_1k_tokens: z.number().min(0),
  output_cost_per_1k_tokens: z.number().min(0),
})

const tableSchema = z.looseObject({
  binary: z.string().min(1),
  command_pattern: z.string().optional(),
  health_check: z.string().optional(),
  env: z.record(z.string(), z.string()).optional(),
})

const llmToolTestSchema = z.looseObject({
  fixtures_path: z.string().min(1).optional(),
  results_path: z.string().min(1).optional(),
  target: tableSchema.optional(),
  tools: z.record(z.string(), toolSchema).default({}),
  profiles: z.record(z.string(), profileSchema).default({}),
  models: z.record(z.string(), priceSchema).default({}),
})

/** The directory that llm-tool-test uses when its configuration names none. Its specification says `fixtures`. */
export const originalFixtures = 'llm-test-fixtures'

/** llm-tool-test looks for scenarios in the whole directory. */
export function scenarioPlaces(fixtures: string): Converted['config'] {
  return { scenarios: [`${fixtures.replace(/\/$/, '')}/**/*.{yaml,yml}`], fixtures_path: fixtures }
}

/** The parsed llm-tool-test-config.toml. `usual`: the directory of scenarios when the file names none. */
export function fromLlmToolTest(value: unknown, file: string, usual: string): Converted {
  const read = llmToolTestSchema.safeParse(value)
  if (!read.success) {
    const lines = read.error.issues.map(
      (issue) => `${file}: ${issue.path.join('.')}: ${issueText(issue, undefined)}`,
    )
    throw new GantryError('INVALID_FILE', lines.join('\n'), { at: { file }, cause: read.error })
  }
  const { fixtures_path, results_path, target, tools, profiles, models } = read.data
  const fixtures = fixtures_path ?? usual
  const notes: string[] = []
  const agents = mapValues(tools, (tool, id) => agentOf(id, tool, notes))
  const isLeftOut = (tool: string): boolean => Object.hasOwn(tools, tool) && !Object.hasOwn(agents, tool)
  const groups = mapValues(profiles, (profile, id) => {
    const kept = profile.tools.filter((tool) => !isLeftOut(tool))
    if (kept.length === profile.tools.length) return profile
    const missing = profile.tools.filter(isLeftOut).join(', ')
    notes.push(
      kept.length === 0
        ? `profiles.${id} is left out: it has only ${missing}.`
        : `profiles.${id}: ${missing} is left out here too.`,
    )
    return kept.length === 0 ? null : { ...profile, tools: kept }
  })
  notes.push(...profileNotes(groups, tools))
  const prices = pricesOf(models, notes)
  notes.push(...unknownKeys(read.data).map((key) => `${key} is left out: llm-tool-test has no such key.`))
  return {
    config: {
      ...(Object.keys(tools).length > 0 && { agents }),
      ...(Object.keys(groups).length > 0 && {
        profiles: mapValues(groups, (profile) => ({
          agents: profile.tools,
          ...(profile.models.length > 0 && { models: profile.models }),
        })),
      }),
      ...(target !== undefined && { target: withKeysOf(tableSchema, target) }),
      ...scenarioPlaces(fixtures),
      ...(results_path !== undefined && { results_path }),
      ...(Object.keys(models).length > 0 && { models: prices }),
    },
    notes,
  }
}

/** Leaves out entries that become null. */
function mapValues<T, U extends object>(
  entries: Readonly<Record<string, T>>,
  convert: (entry: T, id: string) => U | null,
): Record<string, U> {
  const converted = Object.entries(entries).map(([id, entry]) => [id, convert(entry, id)] as const)
  return Object.fromEntries(converted.flatMap(([id, entry]) => (entry === null ? [] : [[id, entry]])))
}

function agentOf(
  id: string,
  { command, models }: z.output<typeof toolSchema>,
  notes: string[],
): object | null {
  const kept = models.length > 0 ? { models } : {}
  const program = command ?? id
  const driver = [id, basename(program), program === 'claude' ? 'claude-code' : ''].find((name) =>
    Object.hasOwn(bareAgents(), name),
  )
  if (driver !== undefined) {
    // Only a path can differ from the program that the driver finds by itself.
    const binary = program.includes('/') ? { binary: program } : {}
    return { driver, ...binary, ...kept }
  }
  if (id === 'mock') {
    notes.push(
      'tools.mock is left out: its counterpart is an agent with driver: scripted and a script of its turns.',
    )
    return null
  }
  notes.push(
    `agents.${id}: there is no driver for it, so it is started as "${program} PROMPT". Check that it takes its prompt this way.`,
  )
  return { driver: 'command', command: [...program.split(/\s+/), '{prompt}'], output: 'text', ...kept }
}

function profileNotes(
  profiles: Readonly<Record<string, z.output<typeof profileSchema>>>,
  tools: Readonly<Record<string, z.output<typeof toolSchema>>>,
): string[] {
  return Object.entries(profiles).flatMap(([id, profile]) =>
    profile.tools.flatMap((tool) => {
      const allowed = tools[tool]?.models ?? []
      const refused = profile.models.filter((model) => allowed.length > 0 && !allowed.includes(model))
      if (refused.length === 0) return []
      return [
        `profiles.${id}: ${tool} does not list ${refused.join(', ')} under its models, so the profile is refused, as before. Add the models to agents.${tool}.models, or take them out of the profile.`,
      ]
    }),
  )
}

/** A table with a model above 0.5 USD per thousand input tokens is in fact per million: no model costs that much. */
function pricesOf(models: Readonly<Record<string, z.output<typeof priceSchema>>>, notes: string[]): object {
  const dear = Object.entries(models).find(([, row]) => row.input_cost_per_1k_tokens > 0.5)
  const factor = dear === undefined ? 1_000 : 1
  const perMillion = (usd: number): number => Number((usd * factor).toPrecision(12))
  if (dear !== undefined)
    notes.push(
      `models: the prices are taken as USD per million tokens, because ${dear[1].input_cost_per_1k_tokens} USD per thousand tokens (${dear[0]}) is more than any model costs. Check them.`,
    )
  return mapValues(models, (row) => ({
    input_usd_per_mtok: perMillion(row.input_cost_per_1k_tokens),
    output_usd_per_mtok: perMillion(row.output_cost_per_1k_tokens),
  }))
}

function unknownKeys(config: z.output<typeof llmToolTestSchema>): string[] {
  const entriesOf = (group: 'tools' | 'profiles' | 'models', schema: z.ZodObject) =>
    Object.entries(config[group]).map(([id, entry]) => [`${group}.${id}.`, schema, entry] as const)
  return [
    ['', llmToolTestSchema, config] as const,
    ['target.', tableSchema, config.target ?? {}] as const,
    ...entriesOf('tools', toolSchema),
    ...entriesOf('profiles', profileSchema),
    ...entriesOf('models', priceSchema),
  ].flatMap(([prefix, schema, entry]) =>
    Object.keys(entry)
      .filter((key) => !Object.hasOwn(schema.shape, key))
      .map((key) => prefix + key),
  )
}

function withKeysOf(schema: z.ZodObject, entry: object): object {
  return Object.fromEntries(Object.entries(entry).filter(([key]) => Object.hasOwn(schema.shape, key)))
}
