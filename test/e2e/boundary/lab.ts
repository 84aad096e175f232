import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { type GantryOptions, type GantryResult, startGantry } from '../support/gantry.ts'
import type { TestProject } from '../support/project.ts'

const clientFile = join(import.meta.dirname, 'client.mjs')

/** The command line of a program that calls its model: see client.mjs. */
export function client(...args: readonly string[]): string[] {
  return [process.execPath, clientFile, ...args]
}

/** A boundary script whose answers are these, for calls with tools and without. */
export function modelScript(...texts: readonly string[]): Record<string, unknown> {
  const turns = texts.map((text) => ({ text, usage: { input_tokens: 1_000, output_tokens: 100 } }))
  return { turns, side: turns[0] }
}

/** A model that writes done.txt and says so. */
export const savingModel = {
  turns: [
    {
      calls: [{ tool: { name: 'save', input: { path: 'done.txt', content: 'done' } } }],
      usage: { input_tokens: 1_000, output_tokens: 100 },
    },
    { text: 'It is written.', usage: { input_tokens: 2_000, output_tokens: 50 } },
  ],
}

export interface Served {
  readonly url: string
  readonly key: string
  /** What a program needs to find it. */
  readonly env: Readonly<Record<string, string>>
  readonly pid: number
  readonly ended: Promise<GantryResult>
  /** Ctrl-C, and what it said until then. */
  interrupt(): Promise<GantryResult>
}

export type BoundaryLine = Readonly<Record<string, unknown>>

/** `gantry boundary … --json` without a program, once it is ready. */
export async function startBoundary(
  project: TestProject,
  argv: readonly string[],
  options: GantryOptions = {},
): Promise<Served> {
  const { child, ended } = startGantry(project, ['boundary', ...argv, '--json'], options)
  // A test that fails leaves no server behind.
  onTestFinished(() => {
    child.kill('SIGKILL')
  })
  const first = await new Promise<string>((settle, fail) => {
    let text = ''
    child.stdout?.on('data', (piece: string) => {
      text += piece
      if (text.includes('\n')) settle(text.slice(0, text.indexOf('\n')))
    })
    void ended.then(({ stderr }) => fail(new Error(`it ended before it was ready: ${stderr}`)), fail)
  })
  const { url, key, env } = JSON.parse(first) as Pick<Served, 'url' | 'key' | 'env'>
  return {
    url,
    key,
    env,
    pid: child.pid ?? 0,
    ended,
    interrupt: () => {
      child.kill('SIGINT')
      return ended
    },
  }
}

/** Every line of standard output, which must be JSON. */
export function linesOf({ stdout }: Pick<GantryResult, 'stdout'>): BoundaryLine[] {
  return stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as BoundaryLine)
}

/** The content of all files of a directory, to check that a text is in none of them. */
export function everythingIn(directory: string): string {
  return readdirSync(directory, { recursive: true, encoding: 'utf8' })
    .map((name) => join(directory, name))
    .filter((path) => statSync(path, { throwIfNoEntry: false })?.isFile() === true)
    .map((path) => `${path}\n${readFileSync(path, 'latin1')}`)
    .join('\n')
}

/** One call of Anthropic's API, without any client between. */
export function post(url: string, headers: Readonly<Record<string, string>> = {}): Promise<Response> {
  return fetch(`${url}/v1/messages`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify({
      model: 'claude-sonnet-5',
      max_tokens: 10,
      messages: [{ role: 'user', content: 'hi' }],
    }),
  })
}
