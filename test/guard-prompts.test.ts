import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { parsePlan } from '../src/guard-engine/project/parse-plan.ts'

const plugin = join(import.meta.dirname, '../plugins/gantry-guard')

function prompt(path: string): {
  readonly front: Record<string, unknown>
  readonly body: string
  readonly text: string
} {
  const text = readFileSync(join(plugin, path), 'utf8')
  const [, front = '', body = ''] = /^---\n(.*?)\n---\n(.*)$/s.exec(text) ?? []
  return { front: parse(front), body, text }
}

describe('the agent of the plugin', () => {
  const { front, body, text } = prompt('agents/ralph.md')

  test('is thin, because hooks enforce what prompts only ask for', () => {
    expect(text.split('\n').length).toBeLessThan(200)
    expect(text).not.toContain('FORBIDDEN')
    expect(body).toMatch(/hooks/i)
  })

  test.each([
    'TDD',
    'RED',
    'GREEN',
    'REFACTOR',
    'VERIFY',
    'IMPLEMENTATION_PLAN.md',
    'AGENTS.md',
    '--max-iterations=N',
  ])('speaks of %s', (word) => {
    expect(body).toContain(word)
  })

  test('says what it is, when to use it, and with which tools', () => {
    expect(front).toMatchObject({
      name: 'ralph',
      model: 'inherit',
      color: 'green',
      tools: ['Read', 'Write', 'Edit', 'Grep', 'Bash', 'Glob'],
    })
    expect(front.description).toMatch(/<example>[\s\S]*<\/example>/)
  })
})

describe('the commands of the plugin', () => {
  const commands = readdirSync(join(plugin, 'commands')).sort()

  test('are the documented ones', () => {
    expect(commands).toEqual(['loop.md', 'ralph-init.md', 'ralph.md', 'status.md', 'trace.md', 'verify.md'])
  })

  test.each(commands)('say what they do: %s', (file) => {
    const { front, body } = prompt(`commands/${file}`)
    expect(front.description).toMatch(/^[A-Z].{20,}/)
    expect(body.trim()).not.toBe('')
  })

  test('start plans the guard understands', () => {
    const template = /```markdown\n(.*?)\n```/s.exec(prompt('commands/ralph-init.md').body)?.[1] ?? ''
    for (const section of [
      'Description',
      'Analysis',
      'Prerequisites',
      'Tasks',
      'Verification',
      'Test Coverage',
      'Notes',
    ])
      expect(template).toMatch(new RegExp(`^## ${section}$`, 'm'))
    const written = template.replace('<test command>', 'npm test').replace('<lint command>', 'npm run lint')
    const { tasks, verification } = parsePlan(written)
    expect(tasks.map(({ done }) => done)).toEqual([false, false])
    expect(tasks[0]?.details.join('\n')).toMatch(/Depends on:.*RED:.*GREEN:.*REFACTOR:.*Acceptance:/s)
    expect(verification).toEqual(['npm test', 'npm run lint'])
    // Nobody is held to a command that was never filled in.
    expect(parsePlan(template).verification).toEqual([])
  })
})
