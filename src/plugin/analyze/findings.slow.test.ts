import { execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createFixture } from 'fs-fixture'
import { describe, expect, test } from 'vitest'
import { analyzePlugin } from './analyze-plugin.ts'
import type { Analysis, PluginFinding } from './contract.ts'
import { type FindingCode, findingCodes } from './finding-codes.ts'

interface Case {
  readonly code: FindingCode
  readonly when: string
  readonly manifest?: Readonly<Record<string, unknown>>
  readonly files?: Readonly<Record<string, string>>
  /** Set up by code because text cannot describe it: links, pipes, permissions. */
  readonly make?: (root: string) => void
  /** Of another plugin. */
  readonly crowd?: Readonly<Record<string, string>>
  readonly expected: Partial<PluginFinding>
}

const skill = (description: string, more = '') => `---\ndescription: ${description}\n${more}---\nbody\n`
const hooks = (events: unknown) => ({ 'hooks/hooks.json': JSON.stringify({ hooks: events }, null, 1) })
const handler = (more: object = {}) => ({ type: 'command', command: 'true', ...more })
const group = (more: object = {}, matcher?: string) => ({
  ...(matcher !== undefined && { matcher }),
  hooks: [handler(more)],
})
const servers = (list: unknown) => ({ '.mcp.json': JSON.stringify({ mcpServers: list }, null, 1) })
const long = 'x'.repeat(1_600)
const severities = ['info', 'warning', 'error']

const cases: readonly Case[] = [
  {
    code: 'COMMANDS_HIDDEN',
    when: 'a command is called skill',
    manifest: { commands: './commands/' },
    files: {
      'commands/skill.md': skill('S.'),
      'commands/a.md': skill('A.'),
      'commands/sub/b.md': skill('B.'),
    },
    expected: {
      severity: 'error',
      path: 'commands/skill.md',
      detail: { hidden: ['commands/a.md', 'commands/sub/b.md'] },
      suggestion: 'Rename commands/skill.md.',
    },
  },
  {
    code: 'CONTEXT_FILE_IGNORED',
    when: 'the plugin has a CLAUDE.md',
    files: { 'CLAUDE.md': '# Rules\n' },
    expected: { severity: 'info', path: 'CLAUDE.md' },
  },
  {
    code: 'FILE_NOT_LOADED',
    when: 'components are beside the manifest',
    files: { '.claude-plugin/commands/a.md': skill('A.') },
    expected: { severity: 'warning', path: '.claude-plugin/commands' },
  },
  {
    code: 'MANIFEST_INCOMPLETE',
    when: 'the manifest has only a name',
    expected: {
      severity: 'info',
      message: 'the manifest has no version, no description, no author',
    },
  },
  {
    code: 'HOOK_PATH_UNQUOTED',
    when: 'two commands have no quotes',
    files: {
      ...hooks({
        Stop: [
          group({ command: `\${CLAUDE_PLUGIN_ROOT}/a.sh` }),
          group({ command: `sh \${CLAUDE_PLUGIN_ROOT}/a.sh` }),
        ],
      }),
      'a.sh': '#!/bin/sh\n',
    },
    make: (root) => chmodSync(join(root, 'a.sh'), 0o755),
    expected: { severity: 'warning', components: ['hook:Stop', 'hook:Stop#2'] },
  },
  {
    code: 'HOOK_MATCHER_INVALID',
    when: 'the matcher has 200,000 characters',
    files: hooks({ PreToolUse: [group({}, `Bash|${'x'.repeat(200_000)}`)] }),
    expected: {
      severity: 'error',
      message:
        'the matcher of group 1 of PreToolUse has 200005 characters; above 10000 the group is left out',
    },
  },
  {
    code: 'MCP_INVALID',
    when: 'args is a text',
    files: servers({ a: { command: 'node', args: 'x.js' } }),
    expected: {
      severity: 'error',
      components: ['mcp_server:a'],
      message: 'args of the server a is a text, so Claude Code drops the server without a message',
      suggestion: 'Write a list of texts.',
    },
  },
  {
    code: 'MCP_INVALID',
    when: 'a variable is a number',
    files: servers({ a: { command: 'node', env: { PORT: 3000 } } }),
    expected: {
      message:
        'env of the server a is an object with a number, so Claude Code drops the server without a message',
    },
  },
  {
    code: 'MCP_INVALID',
    when: 'a header is a number',
    files: servers({ a: { type: 'http', url: 'https://example.test', headers: { A: 1 } } }),
    expected: { suggestion: 'Write an object of texts: numbers in quotes.' },
  },
  {
    code: 'MCP_INVALID',
    when: 'the time limit is a text',
    files: servers({ a: { command: 'node', timeout: '30' } }),
    expected: { suggestion: 'Write a number of milliseconds.' },
  },
  {
    code: 'MCP_INVALID',
    when: 'the address is none',
    files: servers({ a: { type: 'http', url: 'localhost' } }),
    expected: { message: 'the url "localhost" of the server a is not an address, so it never connects' },
  },
  {
    code: 'MCP_INVALID',
    when: 'a server in the manifest has a wrong type',
    manifest: { mcpServers: { a: { command: 'node', args: 'x.js' } } },
    expected: {
      message: 'args of the server a is a text, so Claude Code loads nothing of this plugin',
      detail: { unloads_plugin: true },
    },
  },
  {
    code: 'MCP_INVALID',
    when: 'the servers are a list',
    files: servers([{ command: 'node' }]),
    expected: { severity: 'warning', path: '.mcp.json' },
  },
  {
    code: 'LINK_OUTSIDE',
    when: 'a skill is a link out of the plugin',
    make: (root) => {
      mkdirSync(join(root, 'skills'))
      symlinkSync('/usr', join(root, 'skills/out'))
    },
    expected: { severity: 'error', path: 'skills/out' },
  },
  {
    code: 'LINK_OUTSIDE',
    when: 'the manifest climbs out',
    manifest: { commands: './../other.md' },
    expected: { path: '.claude-plugin/plugin.json' },
  },
  {
    code: 'LINK_OUTSIDE',
    when: 'hooks.json is a link out of the plugin',
    make: (root) => {
      mkdirSync(join(root, 'hooks'))
      symlinkSync('/etc/hostname', join(root, 'hooks/hooks.json'))
    },
    expected: { path: 'hooks/hooks.json' },
  },
  {
    code: 'LINK_IGNORED',
    when: 'a command is a link inside the plugin',
    files: { 'shared/a.md': skill('A.'), 'commands/b.md': skill('B.') },
    make: (root) => symlinkSync('../shared/a.md', join(root, 'commands/a.md')),
    expected: { severity: 'warning', path: 'commands/a.md' },
  },
  {
    code: 'PATH_MISSING',
    when: 'the manifest names a missing file',
    manifest: { agents: ['./nope.md'] },
    expected: { severity: 'error', path: '.claude-plugin/plugin.json', line: 4 },
  },
  {
    code: 'PATH_REFUSED',
    when: 'a path does not begin with ./',
    manifest: { skills: 'more' },
    expected: { suggestion: "Write './more'.", line: 3 },
  },
  ...(
    [
      ['agents', './agents', '.md', 'agents/'],
      ['hooks', './hooks', '.json', 'hooks/hooks.json'],
      ['mcpServers', './servers.txt', '.json', '.mcp.json'],
      ['lspServers', './lsp.JSON', '.json', '.lsp.json'],
    ] as const
  ).flatMap(([key, path, ending, loaded]) =>
    [path, [path]].map((value) => ({
      code: 'PATH_REFUSED' as const,
      when: `${key} names ${JSON.stringify(value)}, of which only the ending matters`,
      manifest: { [key]: value },
      expected: {
        message: `${key} names ${path}, which is not a ${ending} file, so Claude Code loads nothing of this plugin`,
        suggestion: `Name each ${ending} file, or remove ${key}: ${loaded} is loaded anyway.`,
        detail: { unloads_plugin: true },
        line: Array.isArray(value) ? 4 : 3,
      },
    })),
  ),
  {
    code: 'MCP_INVALID',
    when: 'a server is a bundle at an address',
    manifest: { mcpServers: 'https://example.com/notes.mcpb' },
    expected: {
      severity: 'info',
      message: 'https://example.com/notes.mcpb is a bundle, which is not analysed',
    },
  },
  {
    code: 'PATH_REFUSED',
    when: 'skills names a file',
    manifest: { skills: './more/SKILL.md' },
    files: { 'more/SKILL.md': skill('A.') },
    expected: { suggestion: "Name the directory: './more'." },
  },
  {
    code: 'FILE_TOO_LARGE',
    when: 'a skill has 10 MB',
    make: (root) => {
      mkdirSync(join(root, 'skills/a'), { recursive: true })
      writeFileSync(join(root, 'skills/a/SKILL.md'), skill('A big one.') + 'x'.repeat(10 * 1024 * 1024))
    },
    expected: {
      severity: 'error',
      path: 'skills/a/SKILL.md',
      detail: { bytes: 10_485_797, limit_bytes: 1_048_576 },
    },
  },
  {
    code: 'FILE_NOT_TEXT',
    when: 'a skill is binary',
    files: { 'skills/a/SKILL.md': '---\ndescription: \0\x01\n---\n' },
    expected: { severity: 'error', path: 'skills/a/SKILL.md' },
  },
  {
    code: 'FILE_NOT_TEXT',
    when: 'a command has bytes that are not UTF-8',
    files: { 'commands/b.md': '' },
    make: (root) =>
      writeFileSync(
        join(root, 'commands/b.md'),
        Buffer.from([...Buffer.from('---\ndescription: caf'), 0xe9, 10, 45, 45, 45]),
      ),
    expected: { severity: 'warning', path: 'commands/b.md' },
  },
  {
    code: 'FILE_UNREADABLE',
    when: 'SKILL.md is a pipe',
    make: (root) => {
      mkdirSync(join(root, 'skills/a'), { recursive: true })
      execFileSync('mkfifo', [join(root, 'skills/a/SKILL.md')])
    },
    expected: {
      severity: 'error',
      path: 'skills/a/SKILL.md',
      message: 'skills/a/SKILL.md is a FIFO, not a file',
    },
  },
  {
    code: 'FILE_UNREADABLE',
    when: 'a command is a pipe',
    files: { 'commands/b.md': skill('B.') },
    make: (root) => execFileSync('mkfifo', [join(root, 'commands/a.md')]),
    expected: { path: 'commands/a.md' },
  },
  {
    code: 'FILE_UNREADABLE',
    when: 'hooks.json is a directory',
    files: { 'hooks/hooks.json/x': '' },
    expected: { path: 'hooks/hooks.json' },
  },
  {
    code: 'FILE_NOT_LOADED',
    when: 'a skill is nested',
    files: { 'skills/group/inner/SKILL.md': skill('A.') },
    expected: { severity: 'warning', path: 'skills/group/inner/SKILL.md' },
  },
  {
    code: 'FILE_NOT_LOADED',
    when: 'the file is called skill.md',
    files: { 'skills/a/skill.md': skill('A.') },
    expected: { path: 'skills/a/skill.md' },
  },
  {
    code: 'FILE_NOT_LOADED',
    when: 'a skill is not a directory',
    files: { 'skills/a.md': skill('A.') },
    expected: { path: 'skills/a.md', suggestion: 'Move it to skills/a/SKILL.md.' },
  },
  {
    code: 'TOO_MANY_FILES',
    when: 'there are thousands of commands',
    files: Object.fromEntries(Array.from({ length: 2_001 }, (_, index) => [`commands/c${index}.md`, 'x'])),
    expected: { severity: 'warning', path: 'commands' },
  },
  {
    code: 'DEFAULT_DIRECTORY_IGNORED',
    when: 'the manifest names other commands',
    manifest: { commands: './more' },
    files: { 'more/a.md': skill('A.'), 'commands/b.md': skill('B.') },
    expected: { severity: 'warning', detail: { files: ['commands/b.md'] } },
  },
  {
    code: 'MANIFEST_TYPE',
    when: 'the version is a number',
    manifest: { version: 1 },
    expected: { severity: 'error', path: '.claude-plugin/plugin.json', line: 3, suggestion: 'Write a text.' },
  },
  {
    code: 'MANIFEST_TYPE',
    when: 'the author is a text',
    manifest: { author: 'me' },
    expected: { suggestion: 'Write an object.' },
  },
  {
    code: 'MANIFEST_TYPE',
    when: 'a command of the manifest has neither source nor content',
    manifest: { commands: { about: {} } },
    expected: { line: 4 },
  },
  {
    code: 'MANIFEST_UNKNOWN_KEY',
    when: 'a key is misspelled',
    manifest: { mcpServer: {} },
    expected: { severity: 'warning', suggestion: "Did you mean 'mcpServers'?", line: 3 },
  },
  {
    code: 'MANIFEST_UNKNOWN_KEY',
    when: 'a key is unknown',
    manifest: { zzz: 1 },
    expected: { severity: 'info' },
  },
  {
    code: 'PLUGIN_NAME_REFUSED',
    when: 'the name has a blank',
    manifest: { name: 'my plugin' },
    expected: { severity: 'error', line: 2 },
  },
  {
    code: 'FRONTMATTER_INVALID',
    when: 'the YAML cannot be repaired',
    files: { 'skills/a/SKILL.md': '---\nname: a\ndescription: "never closed\n---\nbody' },
    expected: { severity: 'error', path: 'skills/a/SKILL.md', line: 3, components: ['skill:a'] },
  },
  {
    code: 'FRONTMATTER_INVALID',
    when: 'Claude Code can repair the YAML',
    files: { 'commands/a.md': skill('Use when: asked') },
    expected: { severity: 'info', path: 'commands/a.md', line: 2, components: ['command:a'] },
  },
  {
    code: 'FRONTMATTER_TYPE',
    when: 'the description is a list',
    files: { 'skills/a/SKILL.md': skill('[a, b]') },
    expected: { severity: 'error', line: 2, components: ['skill:a'] },
  },
  {
    code: 'FRONTMATTER_TYPE',
    when: 'the tools are a number',
    files: { 'agents/a.md': skill('A.', 'tools: 5\n') },
    expected: { line: 3, components: ['agent:a'] },
  },
  {
    code: 'DESCRIPTION_MISSING',
    when: 'a skill has none',
    files: { 'skills/a/SKILL.md': 'body' },
    expected: { severity: 'warning', components: ['skill:a'], path: 'skills/a/SKILL.md', line: 1 },
  },
  {
    code: 'DESCRIPTION_MISSING',
    when: 'a command for people only has none',
    files: { 'commands/a.md': '---\ndisable-model-invocation: true\n---\n' },
    expected: { severity: 'info', components: ['command:a'] },
  },
  {
    code: 'DESCRIPTION_MISSING',
    when: 'the description of an agent is empty',
    files: { 'agents/a.md': '---\nname: a\ndescription: ""\n---\nbody' },
    expected: { components: ['agent:a'] },
  },
  {
    code: 'NOT_INVOCABLE',
    when: 'a command cannot be typed',
    files: { 'commands/a.md': skill('A.', 'user-invocable: false\n') },
    expected: { severity: 'warning', components: ['command:a'], line: 3 },
  },
  {
    code: 'NOT_INVOCABLE',
    when: 'a skill excludes both users and the model',
    files: { 'skills/a/SKILL.md': skill('A.', 'user-invocable: false\ndisable-model-invocation: true\n') },
    expected: { components: ['skill:a'], line: 4 },
  },
  {
    code: 'DESCRIPTION_TOO_LONG',
    when: 'it has more than 1,536 characters',
    files: { 'skills/a/SKILL.md': skill(long) },
    expected: { severity: 'warning', line: 2, detail: { characters: 1_600, limit: 1_536 } },
  },
  {
    code: 'NAME_NOT_USED',
    when: 'the frontmatter has another name',
    files: { 'skills/a/SKILL.md': skill('A.', 'name: b\n') },
    expected: { severity: 'info', components: ['skill:b'], line: 3 },
  },
  {
    code: 'NAME_NOT_USED',
    when: 'the directory has a blank in its name',
    files: { 'skills/a b/SKILL.md': skill('A.') },
    expected: { message: "its author calls it 'a b', but Claude Code calls it demo:a-b" },
  },
  {
    code: 'FIELD_IGNORED',
    when: 'an agent has hooks',
    files: { 'agents/a.md': skill('A.', 'hooks: {}\n') },
    expected: { severity: 'warning', components: ['agent:a'], line: 3 },
  },
  {
    code: 'EXAMPLE_WITHOUT_USER',
    when: 'an example of a description has only a context',
    files: { 'agents/a.md': skill('A. <example>Context- c</example>') },
    expected: { severity: 'info', components: ['agent:a'], line: 2 },
  },
  {
    code: 'ARGUMENT_HINT',
    when: 'YAML takes it for a list',
    files: { 'commands/a.md': skill('A.', 'argument-hint: [file]\n') },
    expected: { severity: 'info', line: 3, suggestion: 'Put it into quotes: argument-hint: "[file]".' },
  },
  {
    code: 'ARGUMENT_HINT',
    when: 'it is too long',
    files: { 'commands/a.md': skill('A.', `argument-hint: "[${'x'.repeat(1_001)}]"\n`) },
    expected: { severity: 'warning' },
  },
  {
    code: 'UNKNOWN_TOOL',
    when: 'a tool is misspelled',
    files: { 'skills/a/SKILL.md': skill('A.', 'allowed-tools: Reed, Bash(git *), mcp__x__y\n') },
    expected: { severity: 'warning', line: 3, suggestion: "Did you mean 'Read'?" },
  },
  {
    code: 'UNKNOWN_TOOL',
    when: 'an agent disallows an unknown tool',
    files: { 'agents/a.md': skill('A.', 'disallowedTools: [Teleport]\n') },
    expected: { message: "Claude Code has no tool 'Teleport'" },
  },
  {
    code: 'NAME_COLLISION',
    when: 'a skill and a command have one name',
    files: { 'skills/a/SKILL.md': skill('A skill.'), 'commands/a.md': skill('A command.') },
    expected: { severity: 'error', components: ['command:a', 'skill:a'], path: 'skills/a/SKILL.md' },
  },
  {
    code: 'NAME_COLLISION',
    when: 'two names differ only in case',
    files: { 'commands/Go.md': skill('A.'), 'skills/go/SKILL.md': skill('B.') },
    expected: { severity: 'warning', components: ['command:Go', 'skill:go'] },
  },
  {
    code: 'NAME_COLLISION',
    when: 'two skills have the same name in the frontmatter',
    files: { 'skills/a/SKILL.md': skill('A.', 'name: c\n'), 'skills/b/SKILL.md': skill('B.', 'name: c\n') },
    expected: { severity: 'warning', components: ['skill:c', 'skill:b'] },
  },
  {
    code: 'NAME_COLLISION',
    when: 'the tools of two servers have one prefix',
    files: servers({ 'a.b': { command: 'x' }, 'a b': { command: 'y' } }),
    expected: { severity: 'error', components: ['mcp_server:a.b', 'mcp_server:a b'] },
  },
  {
    code: 'NAME_COLLISION',
    when: 'another plugin has the same name',
    crowd: { '.claude-plugin/plugin.json': '{"name":"demo"}' },
    expected: { severity: 'error', components: [] },
  },
  {
    code: 'OVERLAPPING_DESCRIPTIONS',
    when: 'two skills have nearly the same description',
    files: {
      'skills/a/SKILL.md': skill('Formats dates and timestamps for reports.'),
      'skills/b/SKILL.md': skill('Use this skill to format a date or timestamp in a report.'),
      'skills/c/SKILL.md': skill('Deploys containers to the staging cluster.'),
    },
    expected: { severity: 'warning', components: ['skill:a', 'skill:b'], path: 'skills/a/SKILL.md', line: 2 },
  },
  {
    code: 'OVERLAPPING_DESCRIPTIONS',
    when: 'a skill has the description of an agent of another plugin',
    files: { 'skills/a/SKILL.md': skill('Reviews pull requests for security holes.') },
    crowd: {
      '.claude-plugin/plugin.json': '{"name":"other"}',
      'agents/r.md': skill('Review a pull request for a security hole.'),
    },
    expected: { components: ['skill:a', 'agent:other:r'] },
  },
  {
    code: 'SHARED_TRIGGER',
    when: 'two skills have the same trigger phrase',
    files: {
      'skills/a/SKILL.md': skill(`'For when the user asks to "convert a date".'`),
      'skills/b/SKILL.md': skill(`'Calendars; the user says "Convert a date!" or "plan a week".'`),
    },
    expected: {
      severity: 'warning',
      components: ['skill:a', 'skill:b'],
      detail: { phrase: 'convert a date' },
    },
  },
  {
    code: 'SHARED_TRIGGER',
    when: 'an example of an agent is the phrase of a skill',
    files: {
      'skills/a/SKILL.md': skill(`'Use it when the user says "check my work".'`),
      'agents/b.md': skill('Something else entirely.').concat(
        '<example>\nuser: "Check my work."\n</example>',
      ),
    },
    expected: { components: ['skill:a', 'agent:b'] },
  },
  {
    code: 'LISTING_DROPPED',
    when: 'there is no room for all descriptions',
    files: Object.fromEntries(
      [...'abcdefghijklmnopqr'].map((name) => [`skills/${name}/SKILL.md`, skill(name.repeat(1_500))]),
    ),
    expected: {
      severity: 'warning',
      components: ['skill:p', 'skill:q', 'skill:r'],
      path: 'skills/p/SKILL.md',
      line: 2,
    },
  },
  {
    code: 'LISTING_DROPPED',
    when: 'a crowd takes the room',
    files: { 'skills/a/SKILL.md': skill('a'.repeat(1_000)) },
    crowd: {
      '.claude-plugin/plugin.json': '{"name":"other"}',
      ...Object.fromEntries(
        [...'abcdefghijklmnopqrst'].map((name) => [`commands/${name}.md`, skill(name.repeat(1_200))]),
      ),
    },
    expected: { components: ['skill:a'] },
  },
  {
    code: 'HOOK_INVALID',
    when: 'events are at the top level',
    files: { 'hooks/hooks.json': '{"Stop":[{"hooks":[]}]}' },
    expected: { severity: 'error', path: 'hooks/hooks.json', line: 1 },
  },
  {
    code: 'HOOK_INVALID',
    when: 'it is not JSON',
    files: { 'hooks/hooks.json': '{\n "hooks": {},\n}' },
    expected: { line: 2 },
  },
  {
    code: 'HOOK_INVALID',
    when: 'hooks of the manifest are wrapped twice',
    manifest: { hooks: { hooks: { Stop: [] } } },
    expected: { path: '.claude-plugin/plugin.json', line: 4 },
  },
  { code: 'HOOK_INVALID', when: 'an event is no list', files: hooks({ Stop: {} }), expected: { line: 3 } },
  {
    code: 'HOOK_INVALID',
    when: 'a group is a handler',
    files: hooks({ Stop: [handler()] }),
    expected: { line: 4 },
  },
  {
    code: 'HOOK_INVALID',
    when: 'a group has no handlers',
    files: hooks({ Stop: [{ hooks: [] }] }),
    expected: { severity: 'warning' },
  },
  {
    code: 'HOOK_INVALID',
    when: 'the matcher is a number',
    files: hooks({ PreToolUse: [{ matcher: 5, hooks: [handler()] }] }),
    expected: {
      message:
        'the matcher of group 1 of PreToolUse is a number; because of this, Claude Code loads nothing of this plugin',
    },
  },
  {
    code: 'HOOK_INVALID',
    when: 'the type is unknown',
    files: hooks({ Stop: [group({ type: 'script' })] }),
    expected: { message: 'a handler of Stop has the type "script"; it is skipped' },
  },
  {
    code: 'HOOK_INVALID',
    when: 'the time limit is a text',
    files: hooks({ Stop: [group({ timeout: '10' })] }),
    expected: {
      message: 'timeout of a command handler of Stop must be a number of seconds above 0; it is skipped',
    },
  },
  {
    code: 'HOOK_INVALID',
    when: 'the command is missing',
    files: hooks({ Stop: [{ hooks: [{ type: 'command', comand: 'x' }] }] }),
    expected: { message: 'command of a command handler of Stop is missing; it is skipped' },
  },
  {
    code: 'HOOK_EVENT_UNKNOWN',
    when: 'the event is misspelled',
    files: hooks({ PreToolUsed: [group()] }),
    expected: { severity: 'error', suggestion: 'Did you mean PreToolUse?', line: 3 },
  },
  {
    code: 'HOOK_EVENT_NEW',
    when: 'the event is younger than CLIs in use',
    files: hooks({ PreModelSwitch: [group()] }),
    expected: { severity: 'info', components: ['hook:PreModelSwitch'] },
  },
  {
    code: 'HOOK_NEVER_RUNS',
    when: 'an event without conditions has one',
    files: hooks({ Stop: [group({ if: 'Bash(git *)' })] }),
    expected: { severity: 'error', components: ['hook:Stop'], line: 4 },
  },
  {
    code: 'HOOK_NEVER_RUNS',
    when: 'a session starts with a request',
    files: hooks({ SessionStart: [{ hooks: [{ type: 'http', url: 'http://127.0.0.1/x' }] }] }),
    expected: { suggestion: 'Use one of command, mcp_tool.' },
  },
  {
    code: 'HOOK_NEVER_RUNS',
    when: 'a notification asks a model',
    files: hooks({ Notification: [{ hooks: [{ type: 'prompt', prompt: 'x' }] }] }),
    expected: { components: ['hook:Notification'] },
  },
  {
    code: 'HOOK_MATCHER_INVALID',
    when: 'the matcher is not a valid expression',
    files: hooks({ PreToolUse: [group({}, 'Edit[')] }),
    expected: { severity: 'error', components: ['hook:PreToolUse::Edit['] },
  },
  {
    code: 'HOOK_MATCHER_UNKNOWN',
    when: 'a tool is misspelled',
    files: hooks({ PreToolUse: [group({}, 'Edti|Write')] }),
    expected: { severity: 'warning', suggestion: "Did you mean 'Edit'?" },
  },
  {
    code: 'HOOK_MATCHER_UNKNOWN',
    when: 'the matcher is the name of a server alone',
    files: hooks({ PreToolUse: [group({}, 'mcp__memory')] }),
    expected: { suggestion: "Write 'mcp__memory__.*' for all tools of the server." },
  },
  {
    code: 'HOOK_MATCHER_UNKNOWN',
    when: 'the matcher is not a source of a session',
    files: hooks({ SessionStart: [group({}, 'start')] }),
    expected: {
      message: "'start' is not one of the values of source: startup, resume, clear, compact, fork",
    },
  },
  {
    code: 'HOOK_MATCHER_UNKNOWN',
    when: 'an expression matches no tool',
    files: hooks({ PostToolUse: [group({}, '^write$')] }),
    expected: { message: "the matcher '^write$' matches no tool of Claude Code" },
  },
  {
    code: 'HOOK_MATCHER_IGNORED',
    when: 'the event ignores matchers',
    files: hooks({ Stop: [group({}, 'Bash')] }),
    expected: { severity: 'info', components: ['hook:Stop::Bash'] },
  },
  {
    code: 'HOOK_OUTPUT_REJECTED',
    when: 'context is given before a compaction',
    files: hooks({
      PreCompact: [group({ command: `echo '{"hookSpecificOutput":{"additionalContext":"x"}}'` })],
    }),
    expected: { severity: 'error', components: ['hook:PreCompact'] },
  },
  {
    code: 'HOOK_OUTPUT_REJECTED',
    when: 'a script answers for another event',
    files: {
      ...hooks({ Stop: [group({ command: `node \${CLAUDE_PLUGIN_ROOT}/a.js` })] }),
      'a.js': 'console.log(JSON.stringify({hookSpecificOutput:{hookEventName:"PreToolUse"}}))',
    },
    expected: { severity: 'warning', suggestion: 'Set hookEventName to Stop.' },
  },
  {
    code: 'HOOK_OUTPUT_REJECTED',
    when: 'a call is to be denied by continue',
    files: hooks({ PreToolUse: [group({ command: `echo '{"continue": false}'` })] }),
    expected: { severity: 'warning' },
  },
  {
    code: 'HOOK_EXIT_CODE',
    when: 'a script means to block with 1',
    files: {
      ...hooks({ PreToolUse: [group({ command: `bash "\${CLAUDE_PLUGIN_ROOT}/hooks/a.sh"` })] }),
      'hooks/a.sh': 'grep -q secret && exit 1\nexit 0\n',
    },
    expected: { severity: 'warning', components: ['hook:PreToolUse'] },
  },
  {
    code: 'HOOK_EXIT_CODE',
    when: 'a script says that it blocks, and exits with 1',
    files: {
      ...hooks({ PreToolUse: [group({ command: `node "\${CLAUDE_PLUGIN_ROOT}/a.js"` })] }),
      'a.js': "if (bad) {\n  console.error('Blocked: do not push')\n  process.exit(1)\n}\n",
    },
    expected: { severity: 'warning' },
  },
  {
    code: 'HOOK_EXIT_CODE',
    when: 'the command hides its exit code',
    files: {
      ...hooks({ Stop: [group({ command: `bash "\${CLAUDE_PLUGIN_ROOT}/a.sh" || true` })] }),
      'a.sh': 'echo no >&2; exit 2\n',
    },
    expected: { suggestion: 'Remove || true.' },
  },
  {
    code: 'HOOK_EXIT_CODE',
    when: 'exit code 2 has no effect',
    files: hooks({ PermissionRequest: [group({ command: 'exit 2' })] }),
    expected: { suggestion: 'Answer with a decision on stdout.' },
  },
  {
    code: 'HOOK_SCRIPT_MISSING',
    when: 'the script does not exist',
    files: hooks({ Stop: [group({ command: 'node', args: [`\${CLAUDE_PLUGIN_ROOT}/dist/a.js`] })] }),
    expected: { severity: 'error', components: ['hook:Stop'] },
  },
  {
    code: 'HOOK_SCRIPT_NOT_EXECUTABLE',
    when: 'the script is started directly',
    files: {
      ...hooks({ Stop: [group({ command: `"\${CLAUDE_PLUGIN_ROOT}"/a.sh now` })] }),
      'a.sh': '#!/bin/sh\n',
    },
    make: (root) => chmodSync(join(root, 'a.sh'), 0o644),
    expected: { severity: 'error', components: ['hook:Stop'] },
  },
  {
    code: 'HOOK_PATH_RELATIVE',
    when: 'the script is named from the project',
    files: { ...hooks({ Stop: [group({ command: 'python3 ./hooks/a.py' })] }), 'hooks/a.py': '' },
    expected: { severity: 'warning', suggestion: `Write \${CLAUDE_PLUGIN_ROOT}/hooks/a.py.` },
  },
  {
    code: 'HOOK_TIMEOUT',
    when: 'milliseconds are meant',
    files: hooks({ Stop: [group({ timeout: 30_000 })] }),
    expected: { severity: 'warning', suggestion: 'Write seconds: 30.' },
  },
  {
    code: 'HOOK_TIMEOUT',
    when: 'a session ends',
    files: hooks({ SessionEnd: [group({ timeout: 10 })] }),
    expected: { severity: 'info' },
  },
  {
    code: 'HOOK_FIELD_IGNORED',
    when: 'a key is misspelled',
    files: hooks({ Stop: [group({ timout: 10 })] }),
    expected: { severity: 'warning', suggestion: "Did you mean 'timeout'?" },
  },
  {
    code: 'HOOK_FIELD_IGNORED',
    when: 'once is set',
    files: hooks({ Stop: [group({ once: true })] }),
    expected: { severity: 'info' },
  },
  {
    code: 'HOOK_DUPLICATE',
    when: 'a hook is written twice',
    files: hooks({ Stop: [group(), group()] }),
    expected: { severity: 'info', components: ['hook:Stop', 'hook:Stop#2'] },
  },
  {
    code: 'HOOK_DUPLICATE',
    when: 'the manifest names the default file',
    manifest: { hooks: './hooks/hooks.json' },
    files: hooks({ Stop: [group()] }),
    expected: { path: '.claude-plugin/plugin.json', line: 3 },
  },
  {
    code: 'HOOK_MODULES',
    when: 'there are code modules',
    files: { 'hooks/hooks.json': '{"modules":["./x.mjs"]}' },
    expected: { severity: 'info' },
  },
  {
    code: 'MCP_INVALID',
    when: 'an address has no type',
    files: servers({ a: { url: 'https://example.com/mcp' } }),
    expected: { severity: 'error', components: ['mcp_server:a'], suggestion: 'Add "type": "http".', line: 3 },
  },
  { code: 'MCP_INVALID', when: 'the type is unknown', files: servers({ a: { type: 'foo' } }), expected: {} },
  { code: 'MCP_INVALID', when: 'there is no command', files: servers({ a: {} }), expected: {} },
  {
    code: 'MCP_INVALID',
    when: 'the file is not JSON',
    files: { '.mcp.json': '{' },
    expected: { path: '.mcp.json', line: 1 },
  },
  {
    code: 'MCP_DUPLICATE',
    when: 'two servers are one program',
    files: servers({ a: { command: 'x' }, b: { command: 'x' } }),
    expected: { severity: 'warning', components: ['mcp_server:a', 'mcp_server:b'] },
  },
  {
    code: 'MCP_SCRIPT_MISSING',
    when: 'the server was not built',
    files: servers({ a: { command: 'node', args: [`\${CLAUDE_PLUGIN_ROOT}/dist/a.js`] } }),
    expected: { severity: 'error', components: ['mcp_server:a'] },
  },
  {
    code: 'MCP_SECRET_IN_FILE',
    when: 'a token is written down',
    files: servers({ a: { command: 'x', env: { GITHUB_TOKEN: 'made-up-token' } } }),
    expected: { severity: 'warning', suggestion: `Write "\${GITHUB_TOKEN}", and set the variable outside.` },
  },
  {
    code: 'CROWD_REFUSED',
    when: 'another plugin has a broken manifest',
    crowd: { '.claude-plugin/plugin.json': '{', 'skills/a/SKILL.md': skill('A.') },
    expected: { severity: 'warning', components: [] },
  },
]

describe('each finding', () => {
  test.each(cases.map((each) => [`${each.code}: ${each.when}`, each] as const))('%s', async (_, each) => {
    const { findings } = await analysisOf(each)
    const reported = findings.filter(({ code }) => code === each.code)
    expect(reported).toContainEqual(expect.objectContaining(each.expected))
    for (const { message, suggestion, severity, code } of findings) {
      const known = Object.entries(findingCodes).find(([name]) => name === code)?.[1].severity ?? 'info'
      expect(severities.indexOf(severity)).toBeLessThanOrEqual(severities.indexOf(known))
      expect(message).not.toMatch(/undefined|\[object Object\]\S|null/)
      expect(suggestion).toMatch(/[.?]$/)
    }
  })

  test('has a plugin here that shows it', () => {
    expect([...new Set(cases.map(({ code }) => code))].sort()).toEqual(Object.keys(findingCodes).sort())
  })

  test('is in the documentation', () => {
    const rows = readFileSync(join(import.meta.dirname, '../../../docs/plugin-findings.md'), 'utf8')
      .split('\n')
      .filter((line) => line.startsWith('| `'))
      .map((line) => line.split('|').map((cell) => cell.trim()))
      .map(([, code, severity, meaning]) => [code?.replaceAll('`', ''), severity, meaning])
    expect(rows).toEqual(
      Object.entries(findingCodes).map(([code, { severity, meaning }]) => [code, severity, meaning]),
    )
  })
})

test.each([
  [
    'a script exits with 1 when it breaks itself',
    {
      ...hooks({ UserPromptSubmit: [group({ command: `node "\${CLAUDE_PLUGIN_ROOT}/a.js"` })] }),
      'a.js': 'try { run() } catch (error) {\n  console.error(error)\n  process.exit(1)\n}\n',
    },
  ],
  [
    'a script gets the path of another one as an argument',
    {
      ...hooks({ Stop: [group({ command: `node "\${CLAUDE_PLUGIN_ROOT}/run.js" scripts/a.js` })] }),
      'run.js': '',
      'scripts/a.js': '',
    },
  ],
  ['a logger hides its exit code', hooks({ PreToolUse: [group({ command: 'logger hello || true' })] })],
  [
    'one script serves several events',
    {
      ...hooks({ Stop: [group({ command: `node "\${CLAUDE_PLUGIN_ROOT}/a.js"` })] }),
      'a.js':
        'if (input.hook_event_name === "PreToolUse") print({hookSpecificOutput:{hookEventName:"PreToolUse"}})',
    },
  ],
  [
    'an example in the body of an agent',
    { 'agents/a.md': `${skill('A.', 'name: a\n')}<example>text</example>\n` },
  ],
  [
    'the name of a command has a prefix or another case',
    {
      'commands/go.md': skill('A.', 'name: acme:go\n'),
      'skills/write-it/SKILL.md': skill('B.', 'name: Write It\n'),
    },
  ],
  [
    'two servers differ in their variables',
    servers({ a: { command: 'x', env: { SIDE: 'left' } }, b: { command: 'x', env: { SIDE: 'right' } } }),
  ],
  [
    'a hook makes files in the plugin itself',
    hooks({
      Stop: [
        group({
          command: `mkdir -p "\${CLAUDE_PLUGIN_ROOT}/logs" && echo done >> "\${CLAUDE_PLUGIN_ROOT}/logs/log.txt"`,
        }),
      ],
    }),
  ],
  [
    'an argument tells a script its event',
    {
      ...hooks({
        PreToolUse: [group({ command: `node "\${CLAUDE_PLUGIN_ROOT}/a.js" pre` }, 'Bash')],
        PreCompact: [group({ command: `node "\${CLAUDE_PLUGIN_ROOT}/a.js" compact` })],
      }),
      'a.js': 'if (pre) console.log(JSON.stringify({hookSpecificOutput:{hookEventName:"PreToolUse"}}))',
    },
  ],
  [
    'notes lie beside the skills',
    { 'skills/AGENTS.md': '# How to write skills\n', 'skills/a/SKILL.md': skill('A.') },
  ],
  [
    'two descriptions differ in what they are named for',
    {
      'agents/go-build.md': skill(
        'Fixes build errors, vet warnings and linter issues of Go with minimal changes.',
      ),
      'agents/rust-build.md': skill(
        'Fixes build errors, vet warnings and linter issues of Rust with minimal changes.',
      ),
    },
  ],
  [
    'two descriptions are about something with a name',
    {
      'agents/check-py.md': skill(
        'Verify that a Python Agent SDK app is ready for release, after it was created.',
      ),
      'agents/check-ts.md': skill(
        'Verify that a TypeScript Agent SDK app is ready for release, after it was created.',
      ),
    },
  ],
])('nothing is reported when %s', async (_, files) => {
  const { findings } = await analysisOf({
    manifest: { version: '1.0.0', description: 'A demonstration.', author: { name: 'A' } },
    files,
  })
  expect(findings.map(({ code, message }) => [code, message])).toEqual([])
})

test('what keeps the plugin from loading comes first', async () => {
  const { findings } = await analysisOf({
    files: {
      'agents/a.md': '---\nname: a\n  bad\n---\n',
      ...hooks({ Stop: [{}], PreToolUse: [handler()] }),
    },
  })
  expect(findings[0]).toMatchObject({
    code: 'HOOK_INVALID',
    detail: { unloads_plugin: true },
    message:
      'group 1 of PreToolUse is a handler; handlers belong in a list under hooks; because of this, Claude Code loads nothing of this plugin',
  })
})

test('a skill, command or agent above 1 MiB is dropped, as Claude Code does', async () => {
  const big = (bytes: number) => skill('Big.').padEnd(bytes, 'x')
  const { findings, components } = await analysisOf({
    files: {
      'skills/big/SKILL.md': big(1_048_577),
      'skills/fits/SKILL.md': big(1_048_576),
      'commands/big.md': big(1_048_577),
      'agents/big.md': big(1_048_577),
    },
  })
  const dropped = findings.filter(({ code }) => code === 'FILE_TOO_LARGE')
  expect(dropped.map(({ path, severity }) => [path, severity])).toEqual([
    ['agents/big.md', 'error'],
    ['commands/big.md', 'error'],
    ['skills/big/SKILL.md', 'error'],
  ])
  expect(
    [...components.skills, ...components.commands, ...components.agents].map(({ name }) => name),
  ).toEqual(['fits'])
})

test('a hooks file above 1 MiB is read, as Claude Code does', async () => {
  const { components } = await analysisOf({
    files: {
      'hooks/hooks.json': JSON.stringify({ description: 'x'.repeat(1_100_000), hooks: { Stop: [group()] } }),
    },
  })
  expect(components.hooks.map(({ name }) => name)).toEqual(['Stop'])
})

test('a correct plugin has no findings', async () => {
  const { findings, preflight } = await analysisOf({
    manifest: { version: '1.0.0', description: 'A demonstration.', author: { name: 'A' } },
    files: {
      'skills/greet/SKILL.md': skill(
        `'Greets people by name. Use when the user asks to "say hello" or "greet somebody".'`,
        'name: greet\nallowed-tools: Read, Bash(date *)\n',
      ),
      'agents/reviewer.md':
        '---\nname: reviewer\ndescription: |\n  Reviews a change before it is committed.\n  <example>\n  Context: A change is done.\n  user: "Is this ready?"\n  assistant: "I will ask the reviewer."\n  </example>\ntools: Read, Grep\n---\nbody\n',
      'commands/deploy/staging.md': skill('Deploy to staging.', 'argument-hint: "[version]"\n'),
      'hooks/check.sh': '#!/bin/sh\necho no >&2\nexit 2\n',
      ...hooks({
        PreToolUse: [
          {
            matcher: 'Write|Edit',
            hooks: [{ type: 'command', command: `sh "\${CLAUDE_PLUGIN_ROOT}/hooks/check.sh"`, timeout: 10 }],
          },
        ],
        Stop: [group()],
      }),
      ...servers({ weather: { command: 'node', args: [`\${CLAUDE_PLUGIN_ROOT}/hooks/check.sh`] } }),
    },
  })
  expect(findings).toEqual([])
  expect(preflight.warnings).toEqual([])
})

async function analysisOf(each: Pick<Case, 'manifest' | 'files' | 'make' | 'crowd'>): Promise<Analysis> {
  const under = (directory: string, files: Readonly<Record<string, string>> = {}) =>
    Object.fromEntries(Object.entries(files).map(([path, text]) => [`${directory}/${path}`, text]))
  await using fixture = await createFixture({
    'plugin/.claude-plugin/plugin.json': JSON.stringify({ name: 'demo', ...each.manifest }, null, 1),
    ...under('plugin', each.files),
    ...under('crowd', each.crowd),
  })
  each.make?.(fixture.getPath('plugin'))
  const outcome = await analyzePlugin({
    path: 'plugin',
    cwd: fixture.path,
    ...(each.crowd !== undefined && { crowd: ['crowd'] }),
  })
  if (outcome.kind === 'refused') throw new Error(outcome.preflight.errors[0]?.message)
  return outcome.analysis
}
