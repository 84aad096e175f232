import { join } from 'node:path'
import { definedVariables } from '../core/expand.ts'
import { plainRedaction } from '../core/redact/plain-redaction.ts'
import { writeFileAtomic } from '../io/files.ts'
import { realPath } from '../io/resolve-links.ts'
import { temporaryDirectory } from '../io/temporary-directory.ts'
import { plainLine } from '../report/plain-text.ts'
import type { SandboxName } from '../sandboxes/contract.ts'
import { agentFileName, readAgentFile } from '../verifier/agent-file.ts'
import type { VerifierResponse } from '../verifier/contract.ts'
import { agentFileText, type Proposed } from '../verifier/propose-agent-file.ts'
import { tryProposal } from '../verifier/try-proposal.ts'
import { verifyRepository } from '../verifier/verify-repository.ts'
import type { CliContext } from './context.ts'
import { exitCodes, placeOf } from './run-verify.ts'
import { verifyView } from './verify-view.ts'

/** Runs a proposed agent.yaml until it passes or nothing more is known, and says what came of it. */
export async function runProposal(
  directory: string,
  first: Proposed,
  sandbox: 'auto' | SandboxName,
  context: CliContext,
): Promise<{ readonly proposed: Proposed; readonly lines: readonly string[] }> {
  const { signal, stdout } = context
  const env = definedVariables(context.env)
  const repository = realPath(directory)
  const place = await placeOf(repository, env)
  using scratch = temporaryDirectory('gantry-init-')
  const path = join(scratch.path, agentFileName)
  const ends = new Map<VerifierResponse, () => void>()
  const attempt = async (proposed: Proposed): Promise<VerifierResponse> => {
    writeFileAtomic(path, agentFileText(proposed))
    const agentFile = readAgentFile(repository, path)
    const { setup = [], steps } = agentFile.file.verification
    const view = verifyView(context, {
      steps: [...setup, ...steps],
      verbose: false,
      json: false,
    })
    const { response, evidence } = await verifyRepository({
      repository,
      agentFile,
      ...place,
      ...{ sandbox, env, signal },
      title: `init ${repository}`,
      argv: plainRedaction(env).value(process.argv.slice(2)) as readonly string[],
      // A file that a program wrote is never evidence for the guard.
      beneathAgent: async () => true,
      onEvent: view.event,
      onWarning: view.warn,
    })
    ends.set(response, () => view.end(response, { ...evidence, why: null }))
    return response
  }
  const say = (line: string): void => stdout.write(`${plainLine(line)}\n`)
  const { proposed, response, leftOut } = await tryProposal(first, repository, attempt, say)
  ends.get(response)?.()
  context.setExitCode(exitCodes[response.status])
  return {
    proposed,
    lines: [
      ...leftOut.map(
        ({ step, why }) =>
          `Left out: ${plainLine(step.command)} (${plainLine(step.source)}). ${plainLine(why)}`,
      ),
      ...(response.status === 'PASS' ? ['Every step was tried and passes. From now on: gantry verify'] : []),
      ...(response.status === 'FAIL' ? ['Correct the file, then run: gantry verify'] : []),
    ],
  }
}
