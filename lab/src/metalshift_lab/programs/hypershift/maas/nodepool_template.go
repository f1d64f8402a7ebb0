// SPDX-FileCopyrightText: 2026 The metalshift.maas authors
// SPDX-License-Identifier: GPL-3.0-or-later

package nodepool

import (
	"fmt"
	"strconv"

	hyperv1 "github.com/openshift/hypershift/api/hypershift/v1beta1"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

const (
	progressDeadlineAnnotation = "hypershift.openshift.io/machine-deployment-progress-deadline-seconds"
	defaultProgressDeadline    = 3600
)

var maasMachineTemplateKind = schema.GroupVersionKind{Group: "infrastructure.cluster.x-k8s.io", Version: "v1beta1", Kind: "MaasMachineTemplate"}

// maasMachineTemplate carries over the fields of the NodePool that the fork carries over; the others have no effect.
func (c *CAPI) maasMachineTemplate(name func(spec any) (string, error)) (*unstructured.Unstructured, error) {
	spec := map[string]any{"template": map[string]any{"spec": maasMachine(c.nodePool.Spec.Platform.MAAS)}}
	removeStatusCondition(&c.nodePool.Status.Conditions, hyperv1.NodePoolValidMachineTemplateConditionType)
	templateName, err := name(spec)
	if err != nil {
		return nil, fmt.Errorf("failed to generate template name: %w", err)
	}
	template := &unstructured.Unstructured{Object: map[string]any{"spec": spec}}
	template.SetGroupVersionKind(maasMachineTemplateKind)
	template.SetName(templateName)
	return template, nil
}

func maasMachine(wanted *hyperv1.MAASNodePoolPlatform) map[string]any {
	machine := map[string]any{"image": "ubuntu/focal", "minCPU": int64(1), "minMemory": int64(1024)}
	if wanted == nil {
		return machine
	}
	failureDomain := wanted.FailureDomain
	if failureDomain == "" {
		failureDomain = wanted.Zone
	}
	for key, value := range map[string]string{"image": wanted.Image, "failureDomain": failureDomain, "resourcePool": wanted.ResourcePool} {
		if value != "" {
			machine[key] = value
		}
	}
	for key, value := range map[string]*int32{"minCPU": wanted.MinCPU, "minMemory": wanted.MinMemory} {
		if value != nil {
			machine[key] = int64(*value)
		}
	}
	if len(wanted.Tags) > 0 {
		tags := make([]any, len(wanted.Tags))
		for i, tag := range wanted.Tags {
			tags[i] = tag
		}
		machine["tags"] = tags
	}
	return machine
}

// progressDeadlineSeconds is what the fork sets on every MachineDeployment, on all platforms.
func progressDeadlineSeconds(nodePool *hyperv1.NodePool) *int32 {
	seconds := int32(defaultProgressDeadline)
	if value, err := strconv.ParseInt(nodePool.Annotations[progressDeadlineAnnotation], 10, 32); err == nil && value > 0 {
		seconds = int32(value)
	}
	return &seconds
}
