// Generated from the OpenAPI document by "npm run generate". Do not edit.
import type { GantryEvent } from '../../src/core/event.ts'
export type { GantryEvent }
import type { Regrade } from '../../src/core/regrade.ts'
export type { Regrade }
import type { CaseCell } from '../../src/core/select-trials.ts'
export type { CaseCell }
import type { AgentRate, RunSummary } from '../../src/core/summary.ts'
export type { AgentRate, RunSummary }
import type { TrialRecord } from '../../src/core/trial.ts'
export type { TrialRecord }
import type { Explanation } from '../../src/guard/explain.ts'
export type { Explanation }
import type { TraceReport } from '../../src/guard/trace/trace-report.ts'
export type { TraceReport }
import type { ListingBudget, PluginFinding } from '../../src/plugin/analyze/contract.ts'
export type { ListingBudget, PluginFinding }
import type { EvaluationSummary } from '../../src/plugin/evaluate/metrics/create-evaluation-fold.ts'
export type { EvaluationSummary }
import type { ReportSection } from '../../src/report/contract.ts'
export type { ReportSection }
import type { JudgeCalibration } from '../../src/scenario/label-trials.ts'
export type { JudgeCalibration }
import type { Manifest, RunRow, TrialRow } from '../../src/store/contract.ts'
export type { Manifest, RunRow, TrialRow }
import type { QueueStatus } from '../../src/store/trial-queue/why-waiting.ts'
export type { QueueStatus }

export type Error = { readonly "error": { readonly "code": string; readonly "message": string; readonly "hint": string | null } }
export type NewTask = { readonly "description": string; readonly "repository": string; readonly "dry_run"?: boolean; readonly "verbose"?: boolean; readonly "agent"?: string; readonly "model"?: string; readonly "sandbox"?: "auto" | "docker" | "bubblewrap" | "host"; readonly "max_cost_usd"?: number; readonly "questions"?: string; readonly "here"?: boolean; readonly "with_changes"?: boolean; readonly "apply"?: boolean }
export type Message = { readonly "text": string }
export type CommitRequest = { readonly "branch"?: string; readonly "message"?: string }
export type Commit = { readonly "task_id": string; readonly "branch": string; readonly "commit": string; readonly "title": string; readonly "body": string }
export type Task = { readonly "id": string; readonly "repository": string; readonly "description": string; readonly "state": "QUEUED" | "RUNNING" | "SUCCESS" | "WEAKENED" | "NO_CHANGE" | "CANCELLED" | "STUCK" | "INFRA_ERROR"; readonly "created_at": string; readonly "started_at": string | null; readonly "completed_at": string | null; readonly "dry_run": boolean; readonly "verbose": boolean; readonly "run_ids": readonly (string)[]; readonly "task_run_id": string | null; readonly "current_attempt": number; readonly "phase": string | null; readonly "summary": string | null; readonly "error_message": string | null; readonly "options": Readonly<Record<string, unknown>>; readonly "metrics": Readonly<Record<string, unknown>> | null; readonly "position": number | null; readonly "abandoned": boolean }
export type RepositoryList = { readonly "repositories": readonly (string)[] }
export type TaskList = { readonly "tasks": readonly (Task)[] }
export type Cancellation = { readonly "outcome": "asked" | "cancelled"; readonly "task": Task }
export type Logs = { readonly "task_id": string; readonly "events": readonly ({ readonly "id": number; readonly "level": "milestone" | "detail"; readonly "event": Readonly<Record<string, unknown>> })[]; readonly "next_after": number; readonly "has_more": boolean }
export type Diagnosis = { readonly "task_id": string; readonly "attempts": readonly ({ readonly "attempt": number; readonly "run_id": string | null; readonly "status": string; readonly "failure": string | null; readonly "duration_ms": number; readonly "diagnosis": string | null; readonly "files": readonly ({ readonly "path": string; readonly "added": number; readonly "removed": number; readonly "changed": boolean })[] })[]; readonly "replans": readonly ({ readonly "attempt": number; readonly "strategy": string })[]; readonly "error_message": string | null }
export type Metrics = { readonly "tasks": { readonly "total": number; readonly "by_state": Readonly<Record<string, number>>; readonly "success_rate": number | null; readonly "running": number }; readonly "verification": { readonly "attempts": number; readonly "average": number | null; readonly "maximum": number }; readonly "replan": { readonly "total": number; readonly "average": number | null; readonly "frequency": number | null }; readonly "latency": { readonly "scout_a": { readonly "count": number; readonly "total_ms": number; readonly "average_ms": number | null; readonly "minimum_ms": number | null; readonly "maximum_ms": number | null; readonly "p50_ms": number | null; readonly "p95_ms": number | null; readonly "p99_ms": number | null }; readonly "scout_b": { readonly "count": number; readonly "total_ms": number; readonly "average_ms": number | null; readonly "minimum_ms": number | null; readonly "maximum_ms": number | null; readonly "p50_ms": number | null; readonly "p95_ms": number | null; readonly "p99_ms": number | null }; readonly "verifier": { readonly "count": number; readonly "total_ms": number; readonly "average_ms": number | null; readonly "minimum_ms": number | null; readonly "maximum_ms": number | null; readonly "p50_ms": number | null; readonly "p95_ms": number | null; readonly "p99_ms": number | null } }; readonly "history": readonly ({ readonly "id": string; readonly "state": "QUEUED" | "RUNNING" | "SUCCESS" | "WEAKENED" | "NO_CHANGE" | "CANCELLED" | "STUCK" | "INFRA_ERROR"; readonly "attempts": number; readonly "replans": number; readonly "queries": number; readonly "scout_ms": number; readonly "verifier_ms": number; readonly "duration_ms": number; readonly "cost_usd": number | null })[] }
export type Forgotten = { readonly "forgotten": number }
export type Health = { readonly "status": "ok" }
export type About = { readonly "version": string; readonly "store": string; readonly "project": string | null; readonly "tasks": boolean; readonly "queue": boolean; readonly "now": string }
export type SignIn = { readonly "code": string } | { readonly "token": string }
export type SessionProof = { readonly "proof": string }
export type SignInCode = { readonly "code": string; readonly "expires_at": string }
export type GuardSession = { readonly "id": string; readonly "session": string; readonly "directory": string; readonly "agent": string; readonly "started_at": string; readonly "last_at": string; readonly "calls": number; readonly "denials": number; readonly "refusals": number; readonly "end": string | null; readonly "end_why": string | null }
export type GuardMoment = { readonly "id": string; readonly "at": string; readonly "kind": string; readonly "agent_id": string | null; readonly "tool": string | null; readonly "call_id": string | null; readonly "title": string; readonly "result": "success" | "failure" | "denied" | "unknown" | null; readonly "exit_code": number | null; readonly "duration_ms": number | null; readonly "verdict": "pass" | "deny" | "refuse"; readonly "reason": string | null; readonly "notice": string | null; readonly "rules": readonly (string)[]; readonly "notes": readonly (string)[]; readonly "decision": string | null }
export type GuardSessionList = { readonly "sessions": readonly (GuardSession)[]; readonly "total": number }
export type GuardSessionPage = { readonly "row": GuardSession; readonly "moments": readonly (GuardMoment)[]; readonly "left_out": number; readonly "evidence": readonly ({ readonly "command": string; readonly "points": readonly ({ readonly "at": string; readonly "status": string })[] })[]; readonly "report": TraceReport; readonly "ledger": string; readonly "damaged": number }
export type PluginRun = { readonly "plugin_name": string; readonly "plugin_path": string; readonly "agent": string; readonly "model": string; readonly "summary": EvaluationSummary; readonly "findings": readonly (PluginFinding)[]; readonly "listing": ListingBudget; readonly "changes": readonly ({ readonly "file": string; readonly "because": string })[]; readonly "failures": readonly ({ readonly "trial": string; readonly "scenario": string; readonly "prompt": string | null; readonly "reason": string; readonly "advice": readonly (string)[] })[]; readonly "next_steps": readonly (string)[] }
export type RunList = { readonly "runs": readonly (RunRow)[]; readonly "total": number; readonly "names": { readonly "agents": readonly (string)[]; readonly "models": readonly (string)[]; readonly "tags": readonly (string)[] } }
export type Run = { readonly "row": RunRow; readonly "manifest": Manifest | null; readonly "problem": string | null; readonly "summary": RunSummary | null; readonly "sentence": string; readonly "planned": number; readonly "begun": readonly ({ readonly "trial_id": string; readonly "case": string; readonly "agent": string; readonly "model": string; readonly "attempt": number; readonly "is_over": boolean })[]; readonly "tokens": { readonly "input": number; readonly "output": number } | null; readonly "position": number; readonly "rates": readonly (AgentRate)[]; readonly "cells": readonly (CaseCell)[]; readonly "comparisons": readonly (Comparison)[]; readonly "regrade": Regrade | null; readonly "sections": readonly (ReportSection)[]; readonly "command": string; readonly "files": readonly ({ readonly "path": string; readonly "bytes": number })[] }
export type TrialList = { readonly "trials": readonly (TrialRow)[]; readonly "total": number }
export type Trial = { readonly "run": RunRow; readonly "trial_id": string; readonly "record": TrialRecord | null; readonly "begun": { readonly "trial_id": string; readonly "case": string; readonly "agent": string; readonly "model": string; readonly "attempt": number; readonly "is_over": boolean } | null; readonly "prompt": string | null; readonly "problem": string | null; readonly "dir": string; readonly "files": readonly ({ readonly "path": string; readonly "bytes": number })[]; readonly "changes": readonly ({ readonly "path": string; readonly "added": number; readonly "removed": number; readonly "lines": number })[]; readonly "more_changes": number | null; readonly "log_bytes": number; readonly "scenario": { readonly "file": string; readonly "text": string } | null; readonly "environment": Readonly<Record<string, unknown>> | null; readonly "neighbours": { readonly "previous": string | null; readonly "next": string | null }; readonly "label": { readonly "label": "pass" | "fail"; readonly "note": string | null } | null; readonly "command": string }
export type Evidence = { readonly "gates": readonly (readonly ({ readonly "kind": "event"; readonly "at": number; readonly "text": string } | { readonly "kind": "file"; readonly "path": string; readonly "line": number | null } | { readonly "kind": "scenario"; readonly "line": number })[])[]; readonly "model_calls": readonly ({ readonly "at": number; readonly "event": GantryEvent })[]; readonly "guard": readonly ({ readonly "row": GuardSession; readonly "moments": readonly ({ readonly "id": string; readonly "at": string; readonly "kind": string; readonly "agent_id": string | null; readonly "tool": string | null; readonly "call_id": string | null; readonly "title": string; readonly "result": "success" | "failure" | "denied" | "unknown" | null; readonly "exit_code": number | null; readonly "duration_ms": number | null; readonly "verdict": "pass" | "deny" | "refuse"; readonly "reason": string | null; readonly "notice": string | null; readonly "rules": readonly (string)[]; readonly "notes": readonly (string)[]; readonly "decision": string | null; readonly "event_at": number | null })[] })[] }
export type EventPage = { readonly "events": readonly ({ readonly "at": number; readonly "bytes": number; readonly "event": GantryEvent | null; readonly "head": string | null; readonly "cut": boolean })[]; readonly "next": number; readonly "bytes": number }
export type SearchResult = { readonly "hits": readonly ({ readonly "at": number; readonly "excerpt": string })[]; readonly "next": number | null }
export type RunSearch = { readonly "hits": readonly ({ readonly "trial": string; readonly "at": number; readonly "excerpt": string; readonly "more": boolean })[]; readonly "next": string | null; readonly "searched": number; readonly "trials": number }
export type RunFlags = { readonly "pinned"?: boolean; readonly "blessed"?: boolean; readonly "reason"?: string }
export type RemovedRun = { readonly "outcome": "removed" | "live" | "gone" }
export type Retention = { readonly "max_age_ms": number | null; readonly "max_runs": number | null; readonly "next": readonly ({ readonly "id": string; readonly "reason": "age" | "count" })[]; readonly "kept": Readonly<Record<string, string>> }
export type Trend = { readonly "cases": readonly (string)[]; readonly "points": readonly ({ readonly "run": string; readonly "at": string; readonly "commit": string; readonly "title": string; readonly "agent": string; readonly "model": string; readonly "versions": Readonly<Record<string, string>>; readonly "trials": number; readonly "passes": number; readonly "low": number | null; readonly "high": number | null; readonly "cost_usd": number | null; readonly "duration_ms": number; readonly "flaky": number; readonly "cases": number })[] }
export type Comparison = { readonly "schema_version": 1; readonly "before": { readonly "name": string; readonly "run_id": string }; readonly "after": { readonly "name": string; readonly "run_id": string }; readonly "verdict": "better" | "worse" | "same" | "inconclusive"; readonly "difference": { readonly "value": number | null; readonly "low": number; readonly "high": number }; readonly "p": number; readonly "pairs": number; readonly "unit": "cases" | "trials"; readonly "rounds": number | null; readonly "margin": number; readonly "needed_trials_per_case": number | null; readonly "metrics": Readonly<Record<string, { readonly "ratio": number; readonly "low": number | null; readonly "high": number | null } | null>>; readonly "preference": { readonly "model": string; readonly "pairs": number; readonly "wins": number; readonly "losses": number; readonly "ties": number; readonly "win_rate": { readonly "value": number | null; readonly "low": number; readonly "high": number }; readonly "p": number; readonly "unit": "cases" | "trials"; readonly "order_effect": { readonly "value": number | null; readonly "low": number; readonly "high": number; readonly "n": number }; readonly "first_preferred": { readonly "value": number | null; readonly "low": number; readonly "high": number; readonly "n": number }; readonly "longer_wins": { readonly "value": number | null; readonly "low": number; readonly "high": number; readonly "n": number }; readonly "cost_usd": number | null; readonly "not_judged": readonly ({ readonly "reason": string; readonly "pairs": number })[] } | null; readonly "cases": readonly ({ readonly "case": string; readonly "agent": string; readonly "model": string; readonly "before": { readonly "passes": number; readonly "trials": number; readonly "trial": string | null }; readonly "after": { readonly "passes": number; readonly "trials": number; readonly "trial": string | null }; readonly "p": number; readonly "gate": string | null })[]; readonly "left_out": readonly ({ readonly "case": string; readonly "agent": string; readonly "model": string; readonly "reason": string })[]; readonly "regressions": readonly ({ readonly "case": string; readonly "agent": string; readonly "model": string; readonly "kind": "gate" | "score" | "cost"; readonly "severity": "alert" | "warning"; readonly "message": string })[]; readonly "doubts": readonly (string)[] }
export type ComparisonList = { readonly "comparisons": readonly (Comparison)[]; readonly "sides": readonly ({ readonly "name": string; readonly "run": RunRow; readonly "agents": readonly (string)[]; readonly "models": readonly (string)[] })[] }
export type Label = { readonly "content": string; readonly "case": string; readonly "label": "pass" | "fail"; readonly "note"?: string; readonly "run"?: string; readonly "trial"?: string; readonly "judge"?: { readonly "model": string; readonly "passed": boolean; readonly "score": number }; readonly "at": string }
export type NewLabel = { readonly "label": "pass" | "fail"; readonly "note"?: string }
export type LabelList = { readonly "file": string | null; readonly "labels": readonly (Label)[] }
export type Calibration = { readonly "judges": readonly (JudgeCalibration)[]; readonly "trust": readonly (string)[] }

export interface Operations {
  about: {
    path: Record<never, never>
    query: Record<never, never>
    body: undefined
    reply: About
  }
  getQueue: {
    path: Record<never, never>
    query: Record<never, never>
    body: undefined
    reply: QueueStatus
  }
  signIn: {
    path: Record<never, never>
    query: Record<never, never>
    body: SignIn
    reply: {  }
  }
  proveSession: {
    path: Record<never, never>
    query: { nonce: string }
    body: undefined
    reply: SessionProof
  }
  newCode: {
    path: Record<never, never>
    query: Record<never, never>
    body: {  }
    reply: SignInCode
  }
  listRuns: {
    path: Record<never, never>
    query: { kind?: "scenario" | "verify" | "task" | "plugin" | "plan" | undefined; status?: string | undefined; agent?: string | undefined; model?: string | undefined; tag?: string | undefined; case?: string | undefined; text?: string | undefined; since?: string | undefined; until?: string | undefined; offset?: number | undefined; limit?: number | undefined }
    body: undefined
    reply: RunList
  }
  getRun: {
    path: { run: string }
    query: Record<never, never>
    body: undefined
    reply: Run
  }
  deleteRun: {
    path: { run: string }
    query: Record<never, never>
    body: undefined
    reply: RemovedRun
  }
  pluginRun: {
    path: { run: string }
    query: Record<never, never>
    body: undefined
    reply: PluginRun
  }
  runFile: {
    path: { run: string }
    query: { path: string }
    body: undefined
    reply: string
  }
  runEvents: {
    path: { run: string }
    query: { after?: number | undefined }
    body: undefined
    reply: string
  }
  searchRun: {
    path: { run: string }
    query: { text: string; after?: string | undefined }
    body: undefined
    reply: RunSearch
  }
  listTrials: {
    path: { run: string }
    query: { only?: "failures" | "errors" | "flaky" | "different" | undefined; verdict?: "pass" | "fail" | "infra" | "invalid" | undefined; case?: string | undefined; agent?: string | undefined; model?: string | undefined; tag?: string | undefined; text?: string | undefined; sort?: "plan" | "case" | "agent" | "verdict" | "score" | "cost" | "time" | "started" | undefined; descending?: "true" | "false" | undefined; offset?: number | undefined; limit?: number | undefined }
    body: undefined
    reply: TrialList
  }
  getTrial: {
    path: { run: string; trial: string }
    query: Record<never, never>
    body: undefined
    reply: Trial
  }
  trialEvidence: {
    path: { run: string; trial: string }
    query: Record<never, never>
    body: undefined
    reply: Evidence
  }
  trialEvents: {
    path: { run: string; trial: string }
    query: { from?: number | undefined; before?: number | undefined; limit?: number | undefined; whole?: "true" | "false" | undefined }
    body: undefined
    reply: EventPage
  }
  searchTrial: {
    path: { run: string; trial: string }
    query: { text: string; from?: number | undefined }
    body: undefined
    reply: SearchResult
  }
  trialDiff: {
    path: { run: string; trial: string }
    query: { path?: string | undefined }
    body: undefined
    reply: string
  }
  trialFile: {
    path: { run: string; trial: string }
    query: { path: string }
    body: undefined
    reply: string
  }
  flagRun: {
    path: { run: string }
    query: Record<never, never>
    body: RunFlags
    reply: { readonly "flags": readonly ("pinned" | "blessed" | "stuck")[] }
  }
  retention: {
    path: Record<never, never>
    query: Record<never, never>
    body: undefined
    reply: Retention
  }
  compare: {
    path: Record<never, never>
    query: { sides: string; margin?: string | undefined }
    body: undefined
    reply: ComparisonList
  }
  trends: {
    path: Record<never, never>
    query: { case?: string | undefined; agent?: string | undefined; model?: string | undefined; limit?: number | undefined }
    body: undefined
    reply: Trend
  }
  listLabels: {
    path: Record<never, never>
    query: Record<never, never>
    body: undefined
    reply: LabelList
  }
  calibration: {
    path: Record<never, never>
    query: Record<never, never>
    body: undefined
    reply: Calibration
  }
  labelTrial: {
    path: { run: string; trial: string }
    query: Record<never, never>
    body: NewLabel
    reply: Label
  }
  guardSessions: {
    path: Record<never, never>
    query: { limit?: number | undefined }
    body: undefined
    reply: GuardSessionList
  }
  guardSession: {
    path: { session: string }
    query: Record<never, never>
    body: undefined
    reply: GuardSessionPage
  }
  guardDecision: {
    path: { session: string }
    query: { id: string }
    body: undefined
    reply: Explanation
  }
  repositories: {
    path: Record<never, never>
    query: Record<never, never>
    body: undefined
    reply: RepositoryList
  }
  submitTask: {
    path: Record<never, never>
    query: Record<never, never>
    body: NewTask
    reply: Task
  }
  listTasks: {
    path: Record<never, never>
    query: { state?: "QUEUED" | "RUNNING" | "SUCCESS" | "WEAKENED" | "NO_CHANGE" | "CANCELLED" | "STUCK" | "INFRA_ERROR" | undefined; repository?: string | undefined; limit?: number | undefined }
    body: undefined
    reply: TaskList
  }
  getTask: {
    path: { id: string }
    query: Record<never, never>
    body: undefined
    reply: Task
  }
  cancelTask: {
    path: { id: string }
    query: Record<never, never>
    body: {  }
    reply: Cancellation
  }
  tellTask: {
    path: { id: string }
    query: Record<never, never>
    body: Message
    reply: Task
  }
  retryTask: {
    path: { id: string }
    query: Record<never, never>
    body: {  }
    reply: Task
  }
  applyTask: {
    path: { id: string }
    query: Record<never, never>
    body: {  }
    reply: Task
  }
  undoTask: {
    path: { id: string }
    query: Record<never, never>
    body: {  }
    reply: Task
  }
  commitTask: {
    path: { id: string }
    query: Record<never, never>
    body: CommitRequest
    reply: Commit
  }
  dropTask: {
    path: { id: string }
    query: Record<never, never>
    body: {  }
    reply: Task
  }
  taskDiff: {
    path: { id: string }
    query: { attempt?: number | undefined }
    body: undefined
    reply: string
  }
  taskReport: {
    path: { id: string }
    query: Record<never, never>
    body: undefined
    reply: string
  }
  taskLogs: {
    path: { id: string }
    query: { after?: number | undefined; level?: "milestone" | "detail" | undefined; limit?: number | undefined }
    body: undefined
    reply: Logs
  }
  taskDiagnosis: {
    path: { id: string }
    query: Record<never, never>
    body: undefined
    reply: Diagnosis
  }
  taskEvents: {
    path: { id: string }
    query: { after?: number | undefined; level?: "milestone" | "detail" | undefined }
    body: undefined
    reply: string
  }
  events: {
    path: Record<never, never>
    query: { after?: number | undefined; level?: "milestone" | "detail" | undefined }
    body: undefined
    reply: string
  }
  clearHistory: {
    path: Record<never, never>
    query: Record<never, never>
    body: undefined
    reply: Forgotten
  }
  metricsJson: {
    path: Record<never, never>
    query: Record<never, never>
    body: undefined
    reply: Metrics
  }
  metrics: {
    path: Record<never, never>
    query: Record<never, never>
    body: undefined
    reply: string
  }
  openapi: {
    path: Record<never, never>
    query: Record<never, never>
    body: undefined
    reply: Readonly<Record<string, unknown>>
  }
  health: {
    path: Record<never, never>
    query: Record<never, never>
    body: undefined
    reply: Health
  }
}

export const addresses: Readonly<Record<keyof Operations, readonly [method: string, path: string]>> = {
  about: ['GET', '/v1/about'],
  getQueue: ['GET', '/v1/queue'],
  signIn: ['POST', '/v1/session'],
  proveSession: ['GET', '/v1/session/proof'],
  newCode: ['POST', '/v1/session/codes'],
  listRuns: ['GET', '/v1/runs'],
  getRun: ['GET', '/v1/runs/{run}'],
  deleteRun: ['DELETE', '/v1/runs/{run}'],
  pluginRun: ['GET', '/v1/runs/{run}/plugin'],
  runFile: ['GET', '/v1/runs/{run}/file'],
  runEvents: ['GET', '/v1/runs/{run}/events'],
  searchRun: ['GET', '/v1/runs/{run}/search'],
  listTrials: ['GET', '/v1/runs/{run}/trials'],
  getTrial: ['GET', '/v1/runs/{run}/trials/{trial}'],
  trialEvidence: ['GET', '/v1/runs/{run}/trials/{trial}/evidence'],
  trialEvents: ['GET', '/v1/runs/{run}/trials/{trial}/events'],
  searchTrial: ['GET', '/v1/runs/{run}/trials/{trial}/search'],
  trialDiff: ['GET', '/v1/runs/{run}/trials/{trial}/diff'],
  trialFile: ['GET', '/v1/runs/{run}/trials/{trial}/file'],
  flagRun: ['POST', '/v1/runs/{run}/flags'],
  retention: ['GET', '/v1/retention'],
  compare: ['GET', '/v1/comparisons'],
  trends: ['GET', '/v1/trends'],
  listLabels: ['GET', '/v1/labels'],
  calibration: ['GET', '/v1/calibration'],
  labelTrial: ['POST', '/v1/runs/{run}/trials/{trial}/label'],
  guardSessions: ['GET', '/v1/guard/sessions'],
  guardSession: ['GET', '/v1/guard/sessions/{session}'],
  guardDecision: ['GET', '/v1/guard/sessions/{session}/decision'],
  repositories: ['GET', '/v1/repositories'],
  submitTask: ['POST', '/v1/tasks'],
  listTasks: ['GET', '/v1/tasks'],
  getTask: ['GET', '/v1/tasks/{id}'],
  cancelTask: ['POST', '/v1/tasks/{id}/cancel'],
  tellTask: ['POST', '/v1/tasks/{id}/tell'],
  retryTask: ['POST', '/v1/tasks/{id}/retry'],
  applyTask: ['POST', '/v1/tasks/{id}/apply'],
  undoTask: ['POST', '/v1/tasks/{id}/undo'],
  commitTask: ['POST', '/v1/tasks/{id}/commit'],
  dropTask: ['POST', '/v1/tasks/{id}/drop'],
  taskDiff: ['GET', '/v1/tasks/{id}/diff'],
  taskReport: ['GET', '/v1/tasks/{id}/report'],
  taskLogs: ['GET', '/v1/tasks/{id}/logs'],
  taskDiagnosis: ['GET', '/v1/tasks/{id}/diagnosis'],
  taskEvents: ['GET', '/v1/tasks/{id}/events'],
  events: ['GET', '/v1/events'],
  clearHistory: ['DELETE', '/v1/history'],
  metricsJson: ['GET', '/v1/metrics'],
  metrics: ['GET', '/metrics'],
  openapi: ['GET', '/openapi.json'],
  health: ['GET', '/health'],
}
