import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Files } from '../support/project.ts'

const almanac = join(import.meta.dirname, '../../../examples/plugin/weather/server/almanac.mjs')

/** A plugin with two components of every type, so that of each one can fire in place of the other. Below `at`. */
export function kitchen(at: string): Files {
  const files: Files = {
    '.claude-plugin/plugin.json': json({
      name: 'kitchen',
      version: '1.0.0',
      description: 'Two components of every type.',
      author: { name: 'Somebody' },
    }),
    'skills/brew-tea/SKILL.md': skill(
      'brew-tea',
      'Brews a pot of tea. Use it when the user asks to "brew tea".',
    ),
    'skills/bake-bread/SKILL.md': skill(
      'bake-bread',
      'Bakes a loaf of rye. Use it when the user asks to "bake bread".',
    ),
    'agents/taster.md': agent('taster', 'Tastes a dish and says what is missing.'),
    'agents/gardener.md': agent('gardener', 'Fetches herbs from the garden.'),
    'commands/set-table.md':
      '---\ndescription: Set the table\nargument-hint: <guests>\n---\n\nSet it for $ARGUMENTS.\n',
    'commands/tidy/clean.md': '---\ndescription: Clean the stove\n---\n\nClean it.\n',
    'hooks/hooks.json': json({
      hooks: {
        PreToolUse: [
          { matcher: 'Write|Edit', hooks: [{ type: 'command', command: 'true' }] },
          { matcher: 'Bash', hooks: [{ type: 'command', command: 'true' }] },
        ],
      },
    }),
    '.mcp.json': json({ mcpServers: { pantry: server('pantry'), cellar: server('cellar') } }),
    'server/almanac.mjs': readFileSync(almanac, 'utf8'),
  }
  return Object.fromEntries(Object.entries(files).map(([path, content]) => [`${at}/${path}`, content]))
}

/** The name is an argument, too: of two servers that are started alike Claude Code starts one. */
function server(name: string): object {
  return { command: 'node', args: [`\${CLAUDE_PLUGIN_ROOT}/server/almanac.mjs`, name] }
}

function skill(name: string, description: string): string {
  return `---\nname: ${name}\ndescription: ${JSON.stringify(description)}\n---\n\nTake your time.\n`
}

function agent(name: string, description: string): string {
  return `---\nname: ${name}\ndescription: ${description}\n---\n\nDo what you are told.\n`
}

function json(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`
}
