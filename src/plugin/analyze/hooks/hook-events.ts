import { z } from 'zod'
import { textBeside } from '../../../io/text-beside.ts'
import { parseYaml } from '../../../io/yaml.ts'
import type { HandlerType } from './handler-fields.ts'

const handlers = {
  programs: ['command', 'mcp_tool'],
  services: ['command', 'mcp_tool', 'http'],
  all: ['command', 'mcp_tool', 'http', 'prompt', 'agent'],
} as const satisfies Readonly<Record<string, readonly HandlerType[]>>

const fieldTypes = z.union([
  z.enum(['text', 'texts', 'flag', 'object', 'permission']),
  z.array(z.string()).min(1),
])

const factsSchema = z.strictObject({
  matches: z.string().nullable().default(null),
  values: z.array(z.string()).exactOptional(),
  takesCondition: z.boolean().default(false),
  takes: z
    .enum(['programs', 'services', 'all'])
    .default('services')
    .transform((kind): readonly HandlerType[] => handlers[kind]),
  output: z.record(z.string(), fieldTypes).nullable().default(null),
  exitTwo: z.enum(['blocks', 'feedback', 'shown', 'ignored']).default('shown'),
  plainText: z.enum(['context', 'summary', 'path', 'unused']).default('unused'),
  timeoutMs: z.int().default(600_000),
  since: z.string().exactOptional(),
})

/** Facts about a hook event of Claude Code. `hook-events.yaml` says what each means. */
export type HookEventFacts = Readonly<z.output<typeof factsSchema>>

const { value: events } = parseYaml(
  textBeside(import.meta.url, './hook-events.yaml'),
  'hook-events.yaml',
  z.record(z.string(), factsSchema),
)

export const hookEvents: ReadonlyMap<string, HookEventFacts> = new Map(Object.entries(events))
