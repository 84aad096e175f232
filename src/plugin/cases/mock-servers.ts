import { parse } from 'yaml'
import { z } from 'zod'
import { GantryError } from '../../core/error.ts'
import { textBeside } from '../../io/text-beside.ts'
import type { Analysis } from '../analyze/contract.ts'
import type { MockServer, MockTool } from '../generate/contract.ts'
import { type CaseProblem, listPlain, problem, readCaseText } from './read-case-text.ts'
import { splitFrontmatter } from './read-graders.ts'

const mockSchema = z.strictObject({
  type: z.enum(['fixed', 'agent']).default('fixed'),
  error: z.boolean().default(false),
  expect: z
    .record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.null(), z.array(z.unknown())]))
    .default({}),
  description: z.string().optional(),
  abort_when: z.unknown().optional(),
})

const listedSchema = z.union([
  z.object({ tools: z.array(z.looseObject({ name: z.string() })) }),
  z.array(z.looseObject({ name: z.string() })).transform((tools) => ({ tools })),
])

/**
 * The mocks of MCP tools that apply to a case: those of the suite, then of the directories down to the case, which override file by
 * file. `root` is the directory of all cases, `mocks` are the directories found below it.
 */
export function readMocks(
  root: string,
  casePath: string,
  mocks: readonly string[],
  { components, plugin_name: plugin }: Pick<Analysis, 'components' | 'plugin_name'>,
) {
  // Each contains the next, so the longer one is nearer to the case.
  const dirs = mocks
    .filter((path) => `${casePath}/`.startsWith(path.slice(0, -'mocks'.length)))
    .toSorted((a, b) => a.length - b.length)
  const files = new Map<string, Map<string, string>>()
  for (const dir of dirs)
    for (const server of listPlain(`${root}/${dir}`).directories.filter((name) => !name.startsWith('.'))) {
      const own = files.get(server) ?? new Map<string, string>()
      files.set(server, own)
      for (const file of listPlain(`${root}/${dir}/${server}`).files) own.set(file, `${dir}/${server}`)
    }
  const problems: CaseProblem[] = []
  const servers = [...files].map(([name, own]): MockServer => {
    const known = components.mcp_servers.find((server) => server.name === name)
    const tools = [...own]
      .filter(([file]) => file.endsWith('.md') && !file.startsWith('_'))
      .flatMap(([file, dir]) => {
        const read = readMock(root, dir, file, own)
        if (read.kind === 'problem') problems.push(problem('error', `${root}/${dir}/${file}`, read.why))
        return read.kind === 'problem' ? [] : [read.tool]
      })
    const played = own.get('_server.md')
    if (played !== undefined) problems.push(problem('error', `${root}/${played}/_server.md`, playedByModel))
    return { cli_name: known?.cli_name ?? `plugin:${plugin}:${name}`, tools }
  })
  return { servers, problems }
}

const playedByModel = 'is played by a model, which only claude plugin eval does: write a fixed answer'

type Mock =
  | { readonly kind: 'tool'; readonly tool: MockTool }
  | { readonly kind: 'problem'; readonly why: string }

function readMock(root: string, dir: string, file: string, all: ReadonlyMap<string, string>): Mock {
  try {
    const split = splitFrontmatter(readCaseText(`${root}/${dir}`, file) ?? '')
    if (split.kind === 'unterminated') return { kind: 'problem', why: 'opens with --- and never closes' }
    const written = mockSchema.safeParse(split.kind === 'plain' ? {} : (parse(split.yaml) ?? {}))
    if (!written.success)
      return { kind: 'problem', why: z.prettifyError(written.error).replaceAll('\n', ' ') }
    const { type, error, expect, description } = written.data
    if (type === 'agent') return { kind: 'problem', why: playedByModel }
    const name = file.slice(0, -'.md'.length)
    const listed = listedTool(root, all.get('_tools.json'), name)
    return {
      kind: 'tool',
      tool: {
        name,
        description: description ?? (typeof listed?.description === 'string' ? listed.description : ''),
        input_schema: listed?.inputSchema ?? { type: 'object', additionalProperties: true },
        text: withFixtures(split.body, `${root}/${dir}`),
        is_error: error,
        expect,
      },
    }
  } catch (error) {
    if (error instanceof Error) return { kind: 'problem', why: error.message }
    throw error
  }
}

/** The tool as the real server described it, if that was saved. */
function listedTool(
  root: string,
  dir: string | undefined,
  name: string,
): Readonly<Record<string, unknown>> | undefined {
  if (dir === undefined) return undefined
  return listedSchema
    .parse(JSON.parse(readCaseText(`${root}/${dir}`, '_tools.json') ?? '[]'))
    .tools.find((tool) => tool.name === name)
}

function withFixtures(body: string, dir: string): string {
  return body.replaceAll(/\{\{file:(fixtures\/[^}]+)\}\}/g, (_, path: string) => {
    const text = readCaseText(dir, path)
    if (text === null) throw new GantryError('NOT_FOUND', `${path} does not exist`)
    return text
  })
}

/** The answer of a mock whose `expect` was violated begins with this. */
export const brokenExpectation = 'The mock expected something else: '

/** The `--mcp-config` in which mocks take the place of the plugin's servers, under the same names. */
export function mockConfig(servers: readonly MockServer[]): object {
  return {
    mcpServers: Object.fromEntries(
      servers.map(({ cli_name, tools }) => [
        cli_name,
        {
          command: process.execPath,
          args: ['-e', program],
          env: { GANTRY_MOCK: JSON.stringify({ tools, brokenExpectation }) },
        },
      ]),
    ),
  }
}

/** An MCP server over standard streams. It runs in a process of its own, so it has no imports. */
const program = textBeside(import.meta.url, './mock-server.js')
