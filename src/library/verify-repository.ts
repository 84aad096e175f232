import { resolve } from 'node:path'
import { z } from 'zod'
import { loadProject } from '../config/load.ts'
import { openProjectStore } from '../config/open-project-store.ts'
import { definedVariables } from '../core/expand.ts'
import { callback, checkOptions, optionFields } from '../io/check-options.ts'
import { sandboxNames } from '../sandboxes/contract.ts'
import type { VerifierResponse, VerifyEvent } from '../verifier/contract.ts'
import { findVerification } from '../verifier/find-verification.ts'
import { verifyRepository as verifyFound } from '../verifier/verify-repository.ts'

const optionsSchema = z.strictObject({
  /** The repository, or a directory in it. Default: the working directory. */
  repository: z.string().optional(),
  /** Instead of the agent.yaml found there. */
  agentFile: z.string().optional(),
  /** Default: `auto`, the first engine that works here. `host` runs the steps without a sandbox. */
  sandbox: z.enum(['auto', ...sandboxNames]).optional(),
  /** Default: that of this process. */
  env: optionFields.env,
  signal: optionFields.signal,
  onEvent: callback<(event: VerifyEvent) => void>(),
  onWarning: callback<(message: string) => void>(),
})

export type VerifyOptions = Readonly<z.output<typeof optionsSchema>>

/** Runs the steps of agent.yaml in a fresh sandbox. Throws GantryError INTERRUPTED after an abort. */
export async function verifyRepository(options: VerifyOptions = {}): Promise<VerifierResponse> {
  checkOptions('verifyRepository', optionsSchema, options)
  const { repository = '.', agentFile, sandbox = 'auto', onEvent, onWarning } = options
  const { env = process.env, signal = new AbortController().signal } = options
  const found = findVerification(
    resolve(repository),
    agentFile === undefined ? undefined : resolve(agentFile),
  )
  const cwd = found.repository
  const { response } = await verifyFound({
    ...found,
    store: openProjectStore({ cwd, env }),
    redact: loadProject(cwd).config.redact,
    sandbox,
    env: definedVariables(env),
    signal,
    argv: [],
    ...(onEvent !== undefined && { onEvent }),
    ...(onWarning !== undefined && { onWarning }),
  })
  return response
}
