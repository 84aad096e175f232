import { asObject, type JsonObject } from '../../core/json-fields.ts'
import { type FoundPackage, findPackage } from '../../io/import-package.ts'
import type { OpenProcess } from '../../io/open-process.ts'

export const sdkPackage = '@anthropic-ai/claude-agent-sdk'
export const installSdk = `npm install ${sdkPackage}`

/** As much of the package as is used here; it is optional, so its own types are not at hand. */
export interface ClaudeSdk {
  query(call: { readonly prompt: AsyncIterable<SdkPrompt>; readonly options: SdkOptions }): SdkQuery
}

/** Whatever Claude Code says, one message after the other, until it is gone. */
export type SdkQuery = AsyncIterable<JsonObject>

export interface SdkPrompt {
  readonly type: 'user'
  readonly message: { readonly role: 'user'; readonly content: string }
  readonly parent_tool_use_id: null
}

export interface SdkSpawn {
  readonly command: string
  readonly args: readonly string[]
  readonly cwd?: string
  readonly env: Readonly<Record<string, string | undefined>>
}

export interface SdkOptions extends JsonObject {
  readonly env: Readonly<Record<string, string>>
  readonly spawnClaudeCodeProcess: (spawn: SdkSpawn) => OpenProcess
}

/** `path` is where the user says it is; without it the package is searched from the configuration upward. */
export function findSdk(path: string | undefined, base: string): FoundPackage | null {
  return findPackage(sdkPackage, path === undefined ? [base] : [path])
}

/** Throws when the package is there but does not offer what is needed. */
export async function loadSdk(found: FoundPackage): Promise<ClaudeSdk> {
  const loaded = asObject({ ...asObject(await found.load()) })
  if (typeof loaded?.query !== 'function') throw new Error(`${found.directory} exports no function query`)
  return loaded as unknown as ClaudeSdk
}

interface PromptQueue extends AsyncIterable<SdkPrompt> {
  push(prompt: string): void
  /** No prompt will follow; ends the iteration. */
  end(): void
}

/** The SDK reads prompts from an iterator, and the next one may be a long time coming. */
export function createPromptQueue(): PromptQueue {
  const waiting: SdkPrompt[] = []
  let isEnded = false
  let wake = Promise.withResolvers<void>()
  const signal = (): void => {
    wake.resolve()
    wake = Promise.withResolvers()
  }
  return {
    push(content) {
      waiting.push({ type: 'user', message: { role: 'user', content }, parent_tool_use_id: null })
      signal()
    },
    end() {
      isEnded = true
      signal()
    },
    async *[Symbol.asyncIterator]() {
      for (;;) {
        const next = waiting.shift()
        if (next !== undefined) yield next
        else if (isEnded) return
        else await wake.promise
      }
    },
  }
}
