import { workspaceFiles } from './workspace-files.ts'

/** A request that makes an agent use one tool, and the files it is about. */
export interface ToolPrompt {
  readonly prompt: string
  readonly files?: Readonly<Record<string, string>>
}

interface KnownTool extends ToolPrompt {
  /** Tools that may be used on the way: newer CLIs find files with a shell command. */
  readonly implies?: readonly string[]
}

const known: Readonly<Record<string, KnownTool>> = {
  Read: {
    prompt: 'Read README.md and tell me in one sentence what it says.',
    files: workspaceFiles(['README.md']),
  },
  Glob: {
    prompt: 'Which TypeScript files are there? Find them by a pattern of their names.',
    files: workspaceFiles(['src/index.ts', 'test-file.ts']),
    implies: ['Bash'],
  },
  Grep: {
    prompt: 'Search the contents of all files for the word TODO and show me the lines.',
    files: workspaceFiles(['src/index.ts', 'notes.txt']),
    implies: ['Bash'],
  },
  Write: { prompt: 'Create a new file called hello.txt with the text: Hello from the workshop.' },
  Edit: {
    prompt: 'In notes.txt, change the word example to the word sample.',
    files: workspaceFiles(['notes.txt']),
    implies: ['Read'],
  },
  MultiEdit: {
    prompt: 'In notes.txt, change first to top and last to bottom, both in one edit.',
    files: workspaceFiles(['notes.txt']),
    implies: ['Read'],
  },
  NotebookEdit: {
    prompt: 'In analysis.ipynb, change the code of the first cell to: print("hello")',
    files: {
      'analysis.ipynb':
        '{"cells":[{"cell_type":"code","id":"one","execution_count":null,"metadata":{},"outputs":[],"source":["print(1)"]}],"metadata":{},"nbformat":4,"nbformat_minor":5}\n',
    },
    implies: ['Read'],
  },
  Bash: { prompt: 'Run the command echo hello in the shell and show me what it prints.' },
  Agent: subagent(),
  Task: subagent(),
  Skill: {
    prompt: 'Look through the skills you have, use the one that you find most useful here, and say which.',
  },
  WebFetch: { prompt: 'Fetch the page https://example.com and tell me its heading.' },
  WebSearch: { prompt: 'Search the web for the newest version of TypeScript.' },
  TodoWrite: {
    prompt: 'Make a todo list of three steps for tidying up this directory, and keep it as your todos.',
  },
}

/** A harmless and allowed tool, for a matcher that matches everything. */
export const anyTool = 'Read'

export function requestFor(tool: string): ToolPrompt {
  const { implies: _, ...request } = Object.hasOwn(known, tool)
    ? (known[tool] ?? generic(tool))
    : generic(tool)
  return request
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
  return quiet.filter((tool) => !taken(tool) && !(known[tool]?.implies ?? []).some(taken))
}

function subagent(): KnownTool {
  return {
    prompt:
      'Start a general-purpose subagent that counts the files of this directory, and report what it found.',
    files: workspaceFiles(['README.md', 'notes.txt']),
  }
}

function generic(tool: string): KnownTool {
  return tool.startsWith('mcp__')
    ? { prompt: `Call the tool ${tool} once, with arguments you find sensible, and show me its answer.` }
    : { prompt: `Use your tool ${tool} once, in whatever way makes sense here, and say what came of it.` }
}
