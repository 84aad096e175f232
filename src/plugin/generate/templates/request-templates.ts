import { z } from 'zod'
import { textBeside } from '../../../io/text-beside.ts'
import { parseYaml } from '../../../io/yaml.ts'

const names = z.array(z.string()).default([])

export const { value: requestTemplates } = parseYaml(
  textBeside(import.meta.url, './request-templates.yaml'),
  'request-templates.yaml',
  z.object({
    files: z.record(z.string(), z.string()),
    tools: z.record(z.string(), z.object({ prompt: z.string(), files: names, implies: names })),
    mcp_domains: z.array(z.object({ keyword: z.string(), direct: z.string(), paraphrased: z.string() })),
    impossible_events: z.record(z.string(), z.string()),
    unrelated: z.array(z.string()),
    earlier_messages: z.array(z.object({ role: z.enum(['user', 'assistant']), content: z.string() })),
  }),
)

/** Files of a small project at the given paths, so that everything a request refers to exists. */
export function workspaceFiles(paths: readonly string[]): Readonly<Record<string, string>> {
  const { files } = requestTemplates
  return Object.fromEntries(paths.map((path) => [path, files[path] ?? `Contents of ${path}.\n`]))
}
