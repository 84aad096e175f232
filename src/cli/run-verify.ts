import { resolve } from 'node:path'
import { findConfig } from '../config/find-config.ts'
import { exitCode } from '../core/exit-code.ts'
import { definedVariables } from '../core/expand.ts'
import { plainRedaction } from '../core/redact/plain-redaction.ts'
import { refusePipes } from '../io/refuse-pipes.ts'
import type { SandboxName } from '../sandboxes/contract.ts'
import { openStore } from '../store/open-store.ts'
import type { VerifierResponse, VerifierStatus } from '../verifier/contract.ts'
import { findRepository } from '../verifier/find-repository.ts'
import { readKnownAgentFile } from '../verifier/known-agent-file.ts'
import { verifyRepository } from '../verifier/verify-repository.ts'
import type { CliContext } from './context.ts'
import { verifyView } from './verify-view.ts'

export interface VerifyFlags {
  readonly sandbox: 'auto' | SandboxName
  readonly root?: string
  readonly config?: string
  readonly verbose?: boolean
  readonly json?: boolean
}

export const exitCodes: Readonly<Record<VerifierStatus, 0 | 1 | 3>> = {
  PASS: exitCode.pass,
  FAIL: exitCode.failed,
  INFRA_ERROR: exitCode.infra,
}

export async function runVerify(context: CliContext, flags: VerifyFlags): Promise<void> {
  const config = flags.config === undefined ? undefined : resolve(context.cwd, flags.config)
  const repository = findRepository(resolve(context.cwd, flags.root ?? '.'), { named: config !== undefined })
  const { response, end } = await verifyShown(context, flags, repository, config)
  if (flags.json === true) context.stdout.write(`${JSON.stringify(response, null, 2)}\n`)
  else end()
  context.setExitCode(exitCodes[response.status])
}

/**
 * One verification, shown as it runs. `end` prints its result. `isProposal`: it tries an agent.yaml that `gantry init` proposes, and
 * the next try uses what its setup made.
 */
export async function verifyShown(
  context: CliContext,
  flags: VerifyFlags,
  repository: string,
  config?: string,
  isProposal = false,
  said?: Set<string>,
): Promise<{ readonly response: VerifierResponse; readonly end: () => void }> {
  const { signal } = context
  const env = definedVariables(context.env)
  refusePipes(repository)
  const place = await placeOf(repository, env)
  const agentFile = await readKnownAgentFile(repository, env, config)
  const view = verifyView(context, {
    steps: [...(agentFile.file.verification.setup ?? []), ...agentFile.file.verification.steps],
    verbose: flags.verbose === true,
    json: flags.json === true,
    ...(said !== undefined && { said }),
  })
  const { response, evidence } = await verifyRepository({
    repository,
    agentFile,
    ...place,
    sandbox: flags.sandbox,
    ...(isProposal && { isUntouched: true }),
    env,
    signal,
    argv: plainRedaction(env).value(['gantry', ...process.argv.slice(2)]) as readonly string[],
    beneathAgent: async () => {
      // A file that a program wrote is never evidence for the guard.
      if (isProposal) return true
      const { findAgentAbove } = await import('../guard/unlock/prove-person.ts')
      return (await findAgentAbove({ env, pid: process.pid })) !== null
    },
    onEvent: view.event,
    onWarning: view.warn,
  })
  return {
    response,
    end: () => view.end(response, isProposal ? { commands: [], why: null } : evidence),
  }
}

/** Reads gantry.yaml. Its schema includes every agent, so it is loaded only if the file exists. */
async function placeOf(cwd: string, env: Readonly<Record<string, string>>) {
  if (findConfig(cwd) === null) return { store: openStore({ env, cwd }), redact: [] }
  const { openProjectStore } = await import('../config/open-project-store.ts')
  const { loadProject } = await import('../config/load.ts')
  return { store: openProjectStore({ cwd, env }), redact: loadProject(cwd).config.redact }
}
