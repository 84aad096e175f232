import type { LoadedParts } from '../../../agents/contract.ts'
import type { Components } from '../../analyze/contract.ts'

/** Components that the plugin has and Claude Code did not register, each in words. */
export function missingParts(components: Components, loaded: LoadedParts): readonly string[] {
  const { skills, agents, commands, mcp_servers } = loaded
  // A skill that only people may invoke is listed as a command.
  const invocable = new Set([...skills, ...commands])
  const servers = new Set(mcp_servers.map(({ name }) => name))
  return [
    ...components.skills
      .filter(({ cli_name, disable_model_invocation }) =>
        disable_model_invocation ? !invocable.has(cli_name) : !skills.includes(cli_name),
      )
      .map(({ cli_name, path }) =>
        absent('skill', cli_name, path, 'its description may be missing or unreadable'),
      ),
    ...components.agents
      .filter(({ cli_name }) => !agents.includes(cli_name))
      .map(({ cli_name, path }) => absent('agent', cli_name, path, 'its frontmatter may be unreadable')),
    ...components.commands
      .filter(({ cli_name }) => !invocable.has(cli_name))
      .map(({ cli_name, path }) => absent('command', cli_name, path, 'its frontmatter may be unreadable')),
    ...components.mcp_servers
      .filter(({ cli_name }) => !servers.has(cli_name))
      .map(({ cli_name, path }) => absent('MCP server', cli_name, path, 'its configuration may be invalid')),
  ]
}

function absent(what: string, name: string, path: string, why: string): string {
  return `Claude Code did not register the ${what} ${name} (${path}): ${why}`
}
