import { readFile } from 'node:fs/promises';
import { z } from 'zod';

import { errorMessage, UserError } from '../../runtime/errors.js';

/** A strict object whose complaint about an unknown field names the known ones. */
function strict<Shape extends z.ZodRawShape>(shape: Shape): z.ZodObject<Shape, z.core.$strict> {
  return z.strictObject(shape, {
    error: (issue) =>
      issue.code === 'unrecognized_keys'
        ? `unknown ${issue.keys.map((key) => JSON.stringify(key)).join(', ')}; known here: ${Object.keys(shape).join(', ')}`
        : undefined,
  });
}

const seconds = z.number().nonnegative();
const errorDetail = strict({ code: z.string(), message: z.string().optional(), target: z.string().optional() });

const requestFails = strict({
  kind: z.literal('requestFails'),
  status: z.int().min(400).max(599),
  code: z.string(),
  message: z.string(),
  details: z.array(errorDetail).optional(),
  retryAfterSeconds: seconds.optional(),
});
const operationFails = strict({
  kind: z.literal('operationFails'),
  afterSeconds: seconds,
  code: z.string(),
  message: z.string(),
  machineStarts: z.boolean().optional(),
});
const operationCanceled = strict({ kind: z.literal('operationCanceled'), afterSeconds: seconds });
const operationNeverEnds = strict({ kind: z.literal('operationNeverEnds') });
const operationGone = strict({ kind: z.literal('operationGone') });
const operationUnnamed = strict({ kind: z.literal('operationUnnamed') });
const hang = strict({ kind: z.literal('hang') });
const reset = strict({ kind: z.literal('reset') });
const lostResponse = strict({ kind: z.literal('lostResponse') });
const delay = strict({ kind: z.literal('delay'), seconds });
const vanish = strict({ kind: z.literal('vanish'), afterSeconds: seconds });

const effects = [
  requestFails,
  operationFails,
  operationCanceled,
  operationNeverEnds,
  operationGone,
  operationUnnamed,
  hang,
  reset,
  lostResponse,
  delay,
  vanish,
] as const;
const effectKinds = effects.map((effect) => effect.shape.kind.value);

const effectSchema = z.discriminatedUnion('kind', effects, {
  error: `expected an object whose kind is one of ${effectKinds.join(', ')}`,
});
export type FaultEffect = z.infer<typeof effectSchema>;

/** Effects on an operation that a request starts; the others happen to the request itself. */
export type OperationEffect = Extract<
  FaultEffect,
  {
    kind:
      'operationFails' | 'operationCanceled' | 'operationNeverEnds' | 'operationGone' | 'operationUnnamed' | 'vanish';
  }
>;
export type RequestEffect = Exclude<FaultEffect, OperationEffect>;

const faultPoint = z.enum([
  'createVirtualMachine',
  'getVirtualMachine',
  'deleteVirtualMachine',
  'listVirtualMachines',
  'getOperation',
  'deleteNetworkInterface',
  'deleteDisk',
]);
/** The requests that a fault can meet. `createVirtualMachine` is every PUT, `getVirtualMachine` the instance view too. */
export type FaultPoint = z.infer<typeof faultPoint>;

const everywhere = faultPoint.options;
const onWrites: readonly FaultPoint[] = ['createVirtualMachine', 'deleteVirtualMachine'];

function allowedPoints(effect: FaultEffect): readonly FaultPoint[] {
  switch (effect.kind) {
    case 'requestFails':
    case 'hang':
    case 'reset':
    case 'lostResponse':
    case 'delay':
      return everywhere;
    case 'operationFails':
      return effect.machineStarts === true ? ['createVirtualMachine'] : onWrites;
    case 'operationCanceled':
    case 'operationNeverEnds':
    case 'operationUnnamed':
      return onWrites;
    case 'operationGone':
      return [...onWrites, 'getOperation'];
    case 'vanish':
      return ['createVirtualMachine'];
  }
}

function isRegularExpression(text: string): boolean {
  try {
    new RegExp(text);
    return true;
  } catch {
    // The only error that the constructor has is the answer to the question.
    return false;
  }
}

/** One fault, as a faults file writes it. Durations are simulated seconds. */
export const azureFaultSchema = strict({
  on: faultPoint,
  name: z.string().refine(isRegularExpression, 'expected a regular expression').optional(),
  after: z.int().nonnegative().optional(),
  count: z.int().positive().optional(),
  then: effectSchema,
}).superRefine((fault, context) => {
  const allowed = allowedPoints(fault.then);
  if (!allowed.includes(fault.on)) {
    context.addIssue({
      code: 'custom',
      path: ['on'],
      message: `${fault.then.kind} can only happen on ${allowed.join(' or ')}`,
    });
  }
  if (fault.on === 'listVirtualMachines' && fault.name !== undefined) {
    context.addIssue({ code: 'custom', path: ['name'], message: 'a list has no name to match: leave it out' });
  }
});

/**
 * What goes wrong, and when: for requests `on` resources whose name matches (all when absent), the first `after` ones pass,
 * the next `count` (default 1) get `then`, later ones pass again.
 */
export type AzureFault = z.infer<typeof azureFaultSchema>;

const faultsFileSchema = strict({ faults: z.array(azureFaultSchema) });

/** e.g. `faults[0].then.status` */
function fieldName(path: readonly PropertyKey[]): string {
  const name = path.reduce<string>(
    (before, part) => before + (typeof part === 'number' ? `[${part}]` : `.${String(part)}`),
    '',
  );
  return name.replace(/^\./, '');
}

/**
 * Reads `{"faults": [...]}`.
 * @throws UserError with the file, the field and what would be right
 */
export async function readFaultsFile(path: string): Promise<readonly AzureFault[]> {
  let content: unknown;
  try {
    content = JSON.parse(await readFile(path, 'utf8'));
  } catch (error) {
    throw new UserError(`faults file ${path}: expected JSON such as {"faults": []}: ${errorMessage(error)}`, {
      cause: error,
    });
  }
  const parsed = faultsFileSchema.safeParse(content);
  if (parsed.success) return parsed.data.faults;
  const problems = parsed.error.issues.map((issue) => {
    const field = fieldName(issue.path);
    return field === '' ? issue.message : `${field}: ${issue.message}`;
  });
  throw new UserError(`faults file ${path}: ${problems.join('; ')}`);
}
