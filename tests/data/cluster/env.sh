#!/bin/bash
# The variables of AWS's Ray Train sample with its values, in the forms that its file has.
_OTHER="$(dirname "${BASH_SOURCE[0]}")/.other.env"
[ -f "$_OTHER" ] && source "$_OTHER"
unset _OTHER

export CLUSTER_NAME=${CLUSTER_NAME:-"eks-cluster"}
export REGION=${REGION:-"us-east-2"}
export AWS_REGION="$REGION"
export K8S_VERSION=${K8S_VERSION:-"1.36"}
export NODE_AMI_FAMILY=${NODE_AMI_FAMILY:-"AmazonLinux2023"}
export NAMESPACE=${NAMESPACE:-"ray-train"}
export ASSUME_YES=${ASSUME_YES:-""}
export SYSTEM_NODE_TYPE=${SYSTEM_NODE_TYPE:-"m7i.xlarge"}
export SYSTEM_NODE_COUNT=${SYSTEM_NODE_COUNT:-1}
export GPU_NODE_TYPE=${GPU_NODE_TYPE:-"g6.12xlarge"}
export GPU_NODE_COUNT=${GPU_NODE_COUNT:-2}
export GPUS_PER_NODE=${GPUS_PER_NODE:-4}
export GPU_NODEGROUP_NAME=${GPU_NODEGROUP_NAME:-"gpu-workers"}
export GPU_AZ=${GPU_AZ:-""}
export CAPACITY_RESERVATION_ID=${CAPACITY_RESERVATION_ID:-""}
export DLC_IMAGE=${DLC_IMAGE:-"public.ecr.aws/deep-learning-containers/ray:train-ml-cuda-v1.1"}
export KUBERAY_VERSION=${KUBERAY_VERSION:-"1.4.0"}
export RAY_VERSION=${RAY_VERSION:-"2.58.0"}
export RAY_CLUSTER_NAME=${RAY_CLUSTER_NAME:-"ray-train-cluster"}
export NVIDIA_DEVICE_PLUGIN_VERSION=${NVIDIA_DEVICE_PLUGIN_VERSION:-"0.20.0"}
export EFA_DEVICE_PLUGIN_VERSION=${EFA_DEVICE_PLUGIN_VERSION:-"v0.5.32"}
export MODEL_ID=${MODEL_ID:-"Qwen/Qwen2.5-1.5B"}
export STEPS=${STEPS:-5}
export LEARNING_RATE=${LEARNING_RATE:-0.00002}
export NUM_WORKERS=${NUM_WORKERS:-0}
