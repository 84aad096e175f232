import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { parse } from 'yaml'
import { analyzePlugin } from '../src/plugin/analyze/analyze-plugin.ts'
import { compare, type Figure, inMemory, inTemporary } from './figure.ts'

/** Skills, agents, commands, hooks and servers: 200 components in all. */
const counts = { skills: 80, agents: 50, commands: 50, hooks: 15, servers: 5 }
const total = Object.values(counts).reduce((sum, count) => sum + count, 0)
const rounds = 15
const atMost = 4

/**
 * The whole analysis in process against reading the same files and parsing their frontmatter with the same library. The promise is
 * 300 ms; `oursMs` shows how much of it this machine needs.
 */
export function analyzeLargePlugin(): Promise<Figure> {
  return inTemporary((root) => {
    writePlugin(root)
    return compare({
      name: `analyse a plugin of ${total} components`,
      atMost,
      baseline: 'reading its files and parsing their frontmatter',
      rounds,
      ours: () => analyse(root),
      theirs: () => readFrontmatter(root),
    })
  }, inMemory)
}

async function analyse(root: string): Promise<void> {
  const outcome = await analyzePlugin({ path: root, cwd: root })
  if (outcome.kind !== 'analysed') throw new Error('the plugin of the benchmark is refused')
  const found = Object.values(outcome.analysis.components).reduce((sum, list) => sum + list.length, 0)
  if (found !== total) throw new Error(`wrote ${total} components and found ${found}`)
}

function readFrontmatter(root: string): void {
  let read = 0
  for (const entry of readdirSync(root, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue
    const text = readFileSync(join(entry.parentPath, entry.name), 'utf8')
    if (entry.name.endsWith('.json')) JSON.parse(text)
    else if (parse(/^---\n([\s\S]*?)\n---\n/.exec(text)?.[1] ?? '') === null)
      throw new Error('no frontmatter')
    read += 1
  }
  const files = counts.skills + counts.agents + counts.commands + 3
  if (read !== files) throw new Error(`wrote ${files} files and read ${read}`)
}

function writePlugin(root: string): void {
  const write = (path: string, text: string): void => {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), text)
  }
  write('.claude-plugin/plugin.json', '{"name":"large"}')
  for (let index = 0; index < counts.skills; index += 1)
    write(
      `skills/skill-${index}/SKILL.md`,
      `---\nname: skill-${index}\ndescription: This skill should be used when the user asks to "${words(index, 3)}", "${words(index + 500, 3)}", or mentions ${words(index + 900, 25)}.\nallowed-tools: Read, Grep, Bash(git *)\n---\n${'A line of the body.\n'.repeat(150)}`.replace(
        /^description: (.*)$/m,
        (_, text: string) => `description: ${JSON.stringify(text)}`,
      ),
    )
  for (let index = 0; index < counts.agents; index += 1)
    write(
      `agents/agent-${index}.md`,
      `---\nname: agent-${index}\ndescription: |\n  Use this agent to ${words(index + 1_300, 20)}.\n  <example>\n  Context: ${words(index, 4)}\n  user: "${words(index + 77, 6)}"\n  assistant: "I will use it."\n  </example>\ntools: Read, Grep\n---\n${'A line of the body.\n'.repeat(80)}`,
    )
  for (let index = 0; index < counts.commands; index += 1)
    write(
      `commands/${index % 2 === 0 ? '' : 'group/'}command-${index}.md`,
      `---\ndescription: ${words(index + 1_700, 12)}\nargument-hint: "[file] <name>"\n---\n${'A line of the body.\n'.repeat(40)}`,
    )
  const group = (index: number) => ({
    matcher: 'Write|Edit',
    hooks: [{ type: 'command', command: `check ${index}`, timeout: 10 }],
  })
  const groups = Array.from({ length: counts.hooks }, (_, index) => group(index))
  write('hooks/hooks.json', JSON.stringify({ hooks: { PreToolUse: groups } }, null, 2))
  const servers = Array.from({ length: counts.servers }, (_, index) => [
    `server-${index}`,
    { command: 'node', args: [`${index}.js`] },
  ])
  write('.mcp.json', JSON.stringify({ mcpServers: Object.fromEntries(servers) }, null, 2))
}

/** Made-up words of which few descriptions share many. */
function words(from: number, count: number): string {
  return Array.from({ length: count }, (_, index) => word(from * 31 + index * 17)).join(' ')
}

const syllables = ['ka', 'ro', 'mi', 'te', 'lu', 'sa', 'ne', 'do', 'vi', 'pa', 'gu']

function word(number: number): string {
  return [number, Math.floor(number / 11), Math.floor(number / 121), number * 7]
    .map((part) => syllables[part % syllables.length])
    .join('')
}
