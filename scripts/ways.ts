/** A function on the way, as `file#function`. */
export type Step = `${string}#${string}`

/**
 * The files to open, in this order, to follow one flow from end to end. Each function is used by an earlier file of its way;
 * `scripts/house.ts` checks that and counts the files.
 */
export const ways: Readonly<Record<string, readonly Step[]>> = {
  'a scenario, from the command line to its gates': [
    'src/bin.ts#main',
    'src/cli/main.ts#main',
    'src/cli/program.ts#runProgram',
    'src/cli/test.ts#testCommand',
    'src/cli/run-test.ts#runTest',
    'src/scenario/prepare-run.ts#prepareRun',
    'src/scenario/run.ts#runPrepared',
    'src/trials/run-trials.ts#runTrials',
    'src/trials/work-through.ts#workThrough',
    'src/scenario/scenario-trials.ts#scenarioTrials',
    'src/scenario/trial.ts#runTrial',
    'src/scenario/agent-stage.ts#agentStage',
    'src/model-link/run-linked-agent.ts#runLinkedAgent',
    'src/scenario/assess.ts#assess',
    'src/gates/index.ts#runGate',
  ],
  'a hook, from stdin to the decision': [
    'src/hook-bin.ts#hookMain',
    'src/hook-main.ts#hookMain',
    'src/guard/hook/run-hook.ts#runHook',
    'src/guard/hook/answer-hook.ts#answerHook',
    'src/agents/hook-codecs.ts#hookCodecs',
    'src/agents/claude-code/hooks.ts#claudeCodeCodec',
    'src/agents/hooks/define-codec.ts#defineCodec',
    'src/guard-engine/open-guard.ts#openGuard',
    'src/guard-engine/settings/read-settings.ts#readSettings',
    'src/guard-engine/ledger/open-ledger.ts#openLedger',
    'src/guard-engine/facts/gather-facts.ts#gatherFacts',
    'src/guard-engine/store-event.ts#storeEvent',
    'src/guard-engine/decide.ts#decide',
    'src/rules/index.ts#rules',
    'src/rules/protect-files.ts#protectFiles',
  ],
  'a task, from its text to the Editor': [
    'src/bin.ts#main',
    'src/cli/main.ts#main',
    'src/cli/program.ts#runProgram',
    'src/cli/task/index.ts#taskCommand',
    'src/cli/task/run.ts#taskRunCommand',
    'src/cli/task/task-submission.ts#taskSubmission',
    'src/task/worker/work-until-ended.ts#workUntilEnded',
    'src/task/worker/work-on-queue.ts#workOnQueue',
    'src/task/worker/do-task.ts#doTask',
    'src/task/validate-start.ts#validateStart',
    'src/task/run-task.ts#runTask',
    'src/task/implement.ts#implement',
    'src/task/open-task-tools.ts#openTaskTools',
    'src/task/editor/open-editor.ts#openEditor',
    'src/model-link/run-linked-agent.ts#runLinkedAgent',
  ],
}
