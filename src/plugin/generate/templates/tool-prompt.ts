import { requestTemplates, workspaceFiles } from './request-templates.ts'

/** A request that makes an agent use one tool, and the files it is about. */
export interface ToolPrompt {
  readonly prompt: string
  readonly files?: Readonly<Record<string, string>>
}

/** A harmless and allowed tool, for a matcher that matches everything. */
export const anyTool = 'Read'

const { tools } = requestTemplates

export function requestFor(tool: string): ToolPrompt {
  const known = Object.hasOwn(tools, tool) ? tools[tool] : undefined
  if (known === undefined) return { prompt: genericPrompt(tool) }
  const { prompt, files } = known
  return { prompt, ...(files.length > 0 && { files: workspaceFiles(files) }) }
}

/** A request that makes a tool fail while it runs; null where an invalid call is rejected first. */
export function failingRequestFor(tool: string): ToolPrompt | null {
  if (tool === 'Bash')
    return { prompt: 'Run the command ls /no/such/directory in the shell and show me what it says.' }
  if (tool === 'WebFetch') return { prompt: 'Fetch http://127.0.0.1:9/ and tell me what happens.' }
  if (tool.startsWith('mcp__'))
    return { prompt: `Call the tool ${tool} with arguments that it cannot accept, and tell me its error.` }
  return null
}

/** Tools that a request can use without any of the given ones. Tools that every CLI has come first. */
export function toolsBeside(taken: (tool: string) => boolean): readonly string[] {
  const quiet = ['Read', 'Bash', 'Write', 'Edit', 'Glob', 'Grep']
  return quiet.filter((tool) => !taken(tool) && !(tools[tool]?.implies ?? []).some(taken))
}

function genericPrompt(tool: string): string {
  return tool.startsWith('mcp__')
    ? `Call the tool ${tool} once, with arguments you find sensible, and show me its answer.`
    : `Use your tool ${tool} once, in whatever way makes sense here, and say what came of it.`
}
