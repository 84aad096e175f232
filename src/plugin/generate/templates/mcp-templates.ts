import type { McpServerComponent } from '../../analyze/contract.ts'
import { scenarioMaker, type TemplateScenarios } from '../component-record.ts'
import { unrelatedRequest } from '../fallback-scenarios.ts'
import { requestTemplates } from './request-templates.ts'

type McpDomain = (typeof requestTemplates.mcp_domains)[number]

/** Requests that make an agent use a server, chosen by the server's name or by the verb in the name of one of its tools. */
export function mcpTemplates(
  server: McpServerComponent,
  { skipAuthRequired }: { readonly skipAuthRequired: boolean },
): TemplateScenarios {
  if (server.auth_required && skipAuthRequired)
    return { scenarios: [], skipped: 'it needs credentials, and mcp_servers.skip_auth_required is on' }
  const { name } = server
  const domain = domainOf(name)
  const tool = server.known_tools.map((known) => withoutPrefix(known, server)).find((known) => known !== '')
  const scenario = scenarioMaker('mcp_server', name, 'template')
  const direct = domain?.direct ?? requestFor(name, tool)
  const scenarios = [
    scenario('direct-1', 'direct', direct, {
      reasoning:
        domain === undefined ? 'It asks for the server.' : `It asks for what ${domain.keyword} is for.`,
    }),
    domain &&
      scenario('paraphrased-1', 'paraphrased', domain.paraphrased, {
        reasoning: 'The same need in other words.',
      }),
    scenario('negative-1', 'negative', otherDomain(domain, server), {
      reasoning: 'It is of another domain.',
    }),
    server.auth_required &&
      scenario('edge_case-1', 'edge_case', `${direct} If you are not allowed in, tell me what it said.`, {
        reasoning: 'The server needs credentials, and may refuse.',
      }),
  ]
  return { scenarios: scenarios.filter((made) => typeof made === 'object') }
}

/** Requests by what a tool does. The first row with a word that is in its name decides. */
const verbs: readonly (readonly [readonly string[], (thing: string) => string])[] = [
  [['read', 'get', 'fetch', 'show'], (thing) => `get me the ${thing}`],
  [['write', 'create', 'add', 'post', 'send'], (thing) => `create a ${thing} called test-name`],
  [['list', 'search', 'find', 'query'], (thing) => `find and list the ${thing}`],
  [['delete', 'remove', 'drop'], (thing) => `delete the ${thing} called test-name`],
]

function requestFor(server: string, tool: string | undefined): string {
  if (tool === undefined) return `Use the ${server} server to show me what it can do.`
  const words = wordsOf(tool)
  const request = verbs.find(([known]) => known.some((word) => words.includes(word)))?.[1]
  const thing = words.filter((word) => !verbs.some(([known]) => known.includes(word))).join(' ')
  if (request === undefined) return `Use the tool ${tool} of the ${server} server.`
  return `Use the ${server} server to ${request(thing === '' ? 'what it has' : thing)}.`
}

/** A keyword may be the start of a word: `githubserver` is about GitHub. `capital` is not an API. */
function domainOf(server: string): McpDomain | undefined {
  const words = wordsOf(server)
  return requestTemplates.mcp_domains.find(({ keyword }) =>
    words.some((word) => word === keyword || (keyword.length > 4 && word.startsWith(keyword))),
  )
}

/** Domains whose requests make sense without a server of that kind. */
const elsewhere = ['weather', 'search', 'github', 'slack']

/** A request for another kind of server, unless this server is of that kind too. */
function otherDomain(
  own: McpDomain | undefined,
  { name, plugin, description, known_tools }: McpServerComponent,
): string {
  const words = `${plugin} ${name} ${description} ${known_tools.join(' ')}`.toLowerCase()
  const other = elsewhere.find((keyword) => keyword !== own?.keyword && !words.includes(keyword))
  return (
    requestTemplates.mcp_domains.find(({ keyword }) => keyword === other)?.paraphrased ??
    unrelatedRequest([words])
  )
}

/** Tool names with or without the prefix of their server. */
function withoutPrefix(tool: string, { tool_prefix }: McpServerComponent): string {
  return tool.startsWith(tool_prefix) ? tool.slice(tool_prefix.length) : tool
}

function wordsOf(name: string): readonly string[] {
  return name
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((word) => word !== '')
}
