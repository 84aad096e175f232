import { resolve } from 'node:path'
import { asObject, type JsonObject } from '../../core/json-fields.ts'
import { type FoundPackage, findPackage } from '../../io/find-package.ts'
import type { OpenProcess } from '../../io/open-process.ts'

export const sdkPackage = '@anthropic-ai/claude-agent-sdk'
export const installSdk = `npm install ${sdkPackage}`

/** The part of the package's API that is used here; the package is optional, so its own types are not available. */
export interface ClaudeSdk {
  query(call: { readonly prompt: AsyncIterable<SdkPrompt>; readonly options: SdkOptions }): SdkQuery
}

/** All messages of Claude Code until its end. */
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

/** `path` is set by the user, relative to `base`; without it the package is searched from the configuration upward. */
export function findSdk(path: string | undefined, base: string): FoundPackage | null {
  return findPackage(sdkPackage, [resolve(base, path ?? '.')])
}

/** Throws when the package lacks a needed export. */
export async function loadSdk(found: FoundPackage): Promise<ClaudeSdk> {
  const loaded = asObject({ ...asObject(await found.load()) })
  if (typeof loaded?.query !== 'function') throw new Error(`${found.directory} exports no function query`)
  return loaded as unknown as ClaudeSdk
}

/** The SDK reads prompts from an iterator, and the next one may take a long time. */
export function createPromptQueue() {
  const waiting: SdkPrompt[] = []
  let isEnded = false
  let wake = Promise.withResolvers<void>()
  const signal = (): void => {
    wake.resolve()
    wake = Promise.withResolvers()
  }
  return {
    push(content: string): void {
      waiting.push({ type: 'user', message: { role: 'user', content }, parent_tool_use_id: null })
      signal()
    },
    /** No prompt will follow; ends the iteration. */
    end(): void {
      isEnded = true
      signal()
    },
    async *[Symbol.asyncIterator](): AsyncGenerator<SdkPrompt> {
      for (;;) {
        const next = waiting.shift()
        if (next !== undefined) yield next
        else if (isEnded) return
        else await wake.promise
      }
    },
  }
}
